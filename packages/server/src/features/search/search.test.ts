import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { nextLink } from '@creel/contract';
import type { TestClient } from '../../../test/test-client.ts';
import { startTestServer } from '../../../test/test-server.ts';
import { captureMany } from '../../../test/user-actions.ts';

let client: TestClient;
let uid: string;

const server = await startTestServer({
  settings: { DEFAULT_TIER: 'PREMIUM', SIGNUPS_PER_HOUR: '1000' },
});
afterAll(() => server.stop());
beforeEach(async () => {
  ({ client, uid } = await server.registerOwner());
});

const capture = (count: number, method?: string, path?: string): Promise<void> =>
  captureMany(client, uid, { count, ...(method && { method }), ...(path && { path }) });
describe('search', () => {
  const search = (query: string) => client.answerTo(`/api/search?${query}`);

  test.each([
    ['a method', 'PATCH'],
    ['the path', 'some/where'],
    ['the query, decoded', 'a value'],
    ['a header name', 'X-Needle-Name'],
    ['a header value', 'needle value'],
    ['the body, in other case', 'BODY NEEDLE'],
  ])('finds %s', async (_, needle) => {
    await client.send(`/h/${uid}/some/where?key=a%20value`, {
      method: 'PATCH',
      body: 'the Body Needle',
      headers: { 'x-needle-name': 'needle value' },
    });
    await capture(1);
    const found = await client.call('search', { query: { q: needle } });
    expect(found.map(({ index, endpointUid }) => [index, endpointUid])).toEqual([[0, uid]]);
  });

  test('pages through several endpoints, newest first, without gap or duplicate', async () => {
    const first = uid;
    await capture(3);
    ({ uid } = await client.call('createEndpoint', { body: {} }));
    await capture(4);
    let path: string | undefined = '/api/search?q=body&limit=3';
    const seen: [string, number][] = [];
    while (path !== undefined) {
      const answer: Awaited<ReturnType<TestClient['answerTo']>> = await client.answerTo(path);
      expect(answer.status).toBe(200);
      if (Array.isArray(answer.body))
        seen.push(
          ...answer.body.map((one: { endpointUid: string; index: number }): [string, number] => [
            one.endpointUid,
            one.index,
          ]),
        );
      path = nextLink(answer.headers.get('link'));
    }
    expect(seen).toHaveLength(7);
    expect(new Set(seen.map(String)).size).toBe(7);
    expect(seen.slice(0, 4).every(([of]) => of === uid)).toBe(true);
    expect(seen.slice(4).every(([of]) => of === first)).toBe(true);
  });

  test.each(['', 'q=', 'q=%20%20', 'q=x&before=nonsense', 'q=x&scan=0', 'q=x&endpoint=a&endpoint=b'])(
    'refuses %s',
    async (query) => {
      expect(await search(query)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    },
  );

  test.each(['%25', '%5f%5f', "'; drop table users; --", '\\', '%00', '%F0%9F%A6%80', '%'])(
    'takes q=%s as text and finds nothing',
    async (q) => {
      await capture(1);
      const answer = await search(`q=${q}`);
      expect([answer.status, answer.body]).toEqual([200, []]);
    },
  );

  test.each([
    ['method:', 0, 'Expected a method'],
    ['a size:x', 2, 'Expected a size'],
    ['x'.repeat(2001), 0, 'Expected at most 2000 characters'],
  ])('says where %s is wrong', async (q, position, sentence) => {
    const { status, body } = await search(`q=${encodeURIComponent(q)}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'INVALID_QUERY',
      position,
      error: expect.stringContaining(sentence),
      message: expect.stringContaining(sentence),
      fields: { q: expect.stringContaining(sentence) },
    });
  });

  test('can be limited to one endpoint of the caller; any other is unknown, before the query is parsed', async () => {
    const first = uid;
    await capture(1);
    ({ uid } = await client.call('createEndpoint', { body: {} }));
    await capture(2);
    const found = await client.call('search', { query: { q: 'body', endpoint: first } });
    expect(found.map(({ endpointUid }) => endpointUid)).toEqual([first]);
    const stranger = (await server.register()).client;
    const unknown = { status: 404, body: { code: 'ENDPOINT_NOT_FOUND' } };
    expect(await stranger.answerTo(`/api/search?q=body&endpoint=${first}`)).toMatchObject(unknown);
    expect(await stranger.answerTo(`/api/search?q=(&endpoint=${first}`)).toMatchObject(unknown);
    expect(await search('q=&endpoint=nothing')).toMatchObject(unknown);
    expect(await search('q=body&endpoint=')).toMatchObject(unknown);
  });

  test('searches deflate with and without the header of zlib, also over the limit', async () => {
    const long = `${'x'.repeat(1024 * 1024)}end`;
    const bodies = [deflateSync('needle'), deflateRawSync('needle'), deflateRawSync(`needle${long}`)];
    for (const body of [...bodies, Buffer.from('needle as it is')])
      await client.send(`/h/${uid}`, {
        method: 'POST',
        body: Uint8Array.from(body),
        headers: { 'content-encoding': 'deflate' },
      });
    const find = async (q: string): Promise<number[]> =>
      (await client.call('search', { query: { q } })).map(({ index }) => index);
    expect(await find('body:needle')).toEqual([3, 2, 1, 0]);
    expect(await find('body:end')).toEqual([]);
  });

  test('decodes a body of several codings, also if it is long, and not one of more than four', async () => {
    const send = (body: Uint8Array, codings: string) =>
      client.send(`/h/${uid}`, {
        method: 'POST',
        body: Uint8Array.from(body),
        headers: { 'content-encoding': codings },
      });
    await send(brotliCompressSync(gzipSync('a needle')), 'gzip, identity, BR');
    await send(gzipSync(brotliCompressSync(`needle${'x'.repeat(2 * 1024 * 1024)}`)), 'br,gzip');
    await send(gzipSync('a needle'), 'gzip, unknown');
    const five = Array.from({ length: 5 }).reduce<Uint8Array>((body) => gzipSync(body), Buffer.from('a needle'));
    await send(five, 'gzip, gzip, gzip, gzip, gzip');
    const found = await client.call('search', { query: { q: 'body:needle' } });
    expect(found.map(({ index }) => index)).toEqual([1, 0]);
  });

  test('searches decoded bodies, and results have the sender', async () => {
    const json = JSON.stringify({ type: 'invoice.paid', data: { amount: 1200 } });
    await client.send(`/h/${uid}/a?b=c`, {
      method: 'POST',
      body: Uint8Array.from(gzipSync(json)),
      headers: { 'content-encoding': 'gzip' },
    });
    const large = Uint8Array.from(gzipSync(`${'x'.repeat(2 * 1024 * 1024)}needle`));
    await client.send(`/h/${uid}`, { method: 'PUT', body: large, headers: { 'content-encoding': 'gzip' } });
    await client.send(`/h/${uid}`, { method: 'POST', body: json, headers: { 'stripe-signature': 't=1' } });
    const find = async (q: string): Promise<number[]> =>
      (await client.call('search', { query: { q } })).map(({ index }) => index);
    expect(await find('json.data.amount:>1000')).toEqual([2, 0]);
    expect(await find('-json.data.amount:>1000')).toEqual([1]);
    expect(await find('body:xxx')).toEqual([1]);
    expect(await find('needle')).toEqual([]);
    expect(await find('source:stripe event:invoice.*')).toEqual([2]);
    expect(await find('path:/a* query.b:c OR method:put')).toEqual([1, 0]);
    expect(await find('after:-1h before:-1h')).toEqual([]);
    expect(await find('after:-1h is:unsaved ip:127.0.0.0/8')).toEqual([2, 1, 0]);
    const [newest] = await client.call('search', { query: { q: 'source:stripe' } });
    expect(newest).toMatchObject({ source: 'Stripe', eventType: 'invoice.paid' });
    const [listed] = await client.call('listUnsaved', { params: { uid } });
    expect(listed).toMatchObject({ source: 'Stripe', eventType: 'invoice.paid' });
  });

  test('a call with a small limit returns how far it came, and the next one continues', async () => {
    await capture(1, 'PUT');
    await capture(9);
    const counts: (string | null)[] = [];
    const found: unknown[] = [];
    let path: string | undefined = '/api/search?q=method:PUT&scan=4';
    while (path !== undefined) {
      const answer: Awaited<ReturnType<TestClient['answerTo']>> = await client.answerTo(path);
      found.push(...(Array.isArray(answer.body) ? answer.body : []));
      counts.push(answer.headers.get('x-creel-searched'));
      path = nextLink(answer.headers.get('link'));
      // What arrives meanwhile is newer and is not searched.
      await capture(1);
    }
    expect([counts, found.length]).toEqual([['4', '4', '2'], 1]);
  });
});
