import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { nextLink, unsavedId } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import type { TestClient } from '../../../test/test-client.ts';
import { startTestServer } from '../../../test/test-server.ts';
import { captureMany } from '../../../test/user-actions.ts';

let client: TestClient;
let uid: string;

const server = await startTestServer({
  settings: { DEFAULT_TIER: 'PREMIUM', SIGNUPS_PER_HOUR: '1000', MAX_SAVED_PER_ENDPOINT: '5' },
});
afterAll(() => server.stop());
beforeEach(async () => {
  ({ client, uid } = await server.registerOwner());
});

const capture = (count: number, method?: string, path?: string): Promise<void> =>
  captureMany(client, uid, { count, ...(method && { method }), ...(path && { path }) });
const save = (index: unknown) =>
  client.answerTo(`/api/endpoints/${uid}/save-request`, { method: 'POST', json: { index } });
const at = (path: string, init?: Parameters<TestClient['answerTo']>[1]) =>
  client.answerTo(`/api/endpoints/${uid}${path}`, init);
const indexes = (requests: readonly CapturedRequest[]) => requests.map(({ index }) => index);

describe('restoring', () => {
  const copy = {
    index: 0,
    method: 'POST',
    rawTarget: '/a?b=%7e',
    rawHeaders: [['X-Mixed', '\xe9']],
    body: '/wD/',
    bodyEncoding: 'base64',
    sourceIp: '192.0.2.7',
    timestamp: '2026-11-22T10:00:00.123Z',
  };
  const restore = (change: object) => at('/restore-request', { method: 'POST', json: { ...copy, ...change } });

  test('a dropped request is back as it was, and saved', async () => {
    await capture(1);
    const [unsaved] = await client.call('listUnsaved', { params: { uid } });
    await client.call('deleteRequest', { params: { uid, id: unsaved?.id ?? 0 } });
    expect((await restore({})).status).toBe(200);
    const [saved] = await client.call('listSaved', { params: { uid } });
    expect(saved).toMatchObject({ ...copy, saved: true, size: 3, queryParams: { b: '~' } });
    expect((await restore({ index: 1 })).status).toBe(404);
  });

  test("the values of Creel's own cookies are not stored", async () => {
    await capture(1);
    await client.call('deleteRequest', { params: { uid, id: -1_000_000 } });
    expect((await restore({ rawHeaders: [['Cookie', 'a=1; creel_session=secret']] })).body).toMatchObject({
      rawHeaders: [['Cookie', 'a=1; creel_session=hidden-by-creel']],
    });
  });

  test('a request that is still stored is saved if it is the same, else it is rejected', async () => {
    await client.send(`/h/${uid}`, { method: 'POST', body: 'first' });
    const [{ rawTarget, rawHeaders, sourceIp } = copy] = await client.call('listUnsaved', { params: { uid } });
    const same = { rawTarget, rawHeaders, sourceIp, body: 'first', bodyEncoding: 'utf8' };
    const others = [
      { body: 'other' },
      { body: null },
      { method: 'PUT' },
      { rawTarget: '/other' },
      { rawHeaders: [] },
      { sourceIp: '192.0.2.9' },
    ];
    for (const other of others)
      expect(await restore({ ...same, ...other })).toMatchObject({
        status: 400,
        body: { fields: { index: 'Another request with this index is stored' } },
      });
    expect(await client.call('listSaved', { params: { uid } })).toEqual([]);
    const restored = await restore(same);
    expect(restored).toMatchObject({ status: 200, body: { index: 0, saved: true, body: 'first' } });
    expect((await restore(same)).body).toEqual(restored.body);
    expect(await client.call('listSaved', { params: { uid } })).toEqual([restored.body]);
  });

  test('only what a request head can contain is accepted', async () => {
    // Nothing is stored, so that a valid body is a 404.
    expect((await restore({})).status).toBe(404);
    const changes = [
      { rawTarget: '/a\nX: 1' },
      { rawTarget: '/a b' },
      { rawTarget: '/\xe9' },
      { rawTarget: 'a' },
      { rawHeaders: [['', 'a']] },
      { rawHeaders: [['X Y', 'a']] },
      { rawHeaders: [['X', '\x1b[31m']] },
      { rawHeaders: [['X', 'a\nb']] },
      { rawHeaders: [['X', '\u{1f600}']] },
      { sourceIp: '1.2.3.4\n' },
      { method: 'P T' },
      { index: -1 },
      { timestamp: 'yesterday' },
      { body: '/wD*' },
      { rawHeaders: [['X', 'a'.repeat(65_536)]] },
      { rawHeaders: Array.from({ length: 13_200 }, () => ['X', '']) },
      { rawTarget: `/${'a'.repeat(81_920)}` },
    ];
    const answers = await Promise.all(changes.map(restore));
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 400));
  });

  test('a list with more headers than a request can have gets one sentence', async () => {
    const { status, body } = await restore({ rawHeaders: Array.from({ length: 20_000 }, () => 1) });
    expect({ status, body }).toMatchObject({ status: 400, body: { fields: { rawHeaders: expect.any(String) } } });
  });
});

describe('lists', () => {
  test('return the newest first, saved and unsaved separately', async () => {
    await capture(4);
    await save(1);
    await save(3);
    const params = { uid };
    expect(indexes(await client.call('listSaved', { params }))).toEqual([3, 1]);
    expect(indexes(await client.call('listUnsaved', { params }))).toEqual([2, 0]);
    const [newest] = await client.call('listUnsaved', { params });
    expect(newest).toMatchObject({
      id: unsavedId(2),
      saved: false,
      body: 'body 2',
      size: 6,
      method: 'POST',
      path: '/',
      sourceIp: '127.0.0.1',
    });
  });

  test('have linked pages, without gap or duplicate, while captures arrive', async () => {
    await capture(7);
    let path: string | undefined = `/api/endpoints/${uid}/temp-requests?limit=3`;
    const seen: number[] = [];
    let pages = 0;
    while (path !== undefined) {
      const answer: Awaited<ReturnType<TestClient['answerTo']>> = await client.answerTo(path);
      if (Array.isArray(answer.body)) seen.push(...answer.body.map((request: CapturedRequest) => request.index));
      pages += 1;
      path = nextLink(answer.headers.get('link'));
      await capture(1);
    }
    expect([pages, seen]).toEqual([3, [6, 5, 4, 3, 2, 1, 0]]);
  });

  test('can be limited to a method; the last page has no link', async () => {
    await capture(2);
    await capture(2, 'PUT');
    await capture(1, 'GET');
    const put = await client.callWithHeaders('listUnsaved', { params: { uid }, query: { method: 'PUT', limit: 2 } });
    expect([indexes(put.data), put.nextBefore]).toEqual([[3, 2], undefined]);
    expect(indexes(await client.call('listUnsaved', { params: { uid }, query: { method: 'put' } }))).toEqual([3, 2]);
    expect(await client.call('listUnsaved', { params: { uid }, query: { before: 0 } })).toEqual([]);
    expect(indexes(await client.call('listUnsaved', { params: { uid }, query: { before: 2 } }))).toEqual([1, 0]);
  });

  test.each(['0', '-1', '1.5', 'x', '', '1e3', '0x10', '%00', '9'.repeat(101)])(
    'limit=%s is nonsense',
    async (limit) => {
      for (const list of ['requests', 'temp-requests']) {
        expect(await at(`/${list}?limit=${limit}`)).toMatchObject({
          status: 400,
          body: { code: 'VALIDATION_FAILED', fields: { limit: 'limit must be a whole number from 1 up' } },
        });
      }
      expect((await client.answerTo(`/api/search?q=x&limit=${limit}`)).status).toBe(400);
    },
  );

  test('a limit over 500 is accepted, and invalid ones are rejected', async () => {
    expect((await at('/requests?limit=501')).status).toBe(200);
    expect((await at('/requests?limit=999999999')).status).toBe(200);
    expect(await at('/requests?before=x')).toMatchObject({
      status: 400,
      body: { fields: { before: expect.any(String) } },
    });
    expect((await at('/requests?method=%00')).status).toBe(400);
    expect(await at('/requests?method=')).toMatchObject({
      status: 400,
      body: { fields: { method: expect.any(String) } },
    });
    expect(await at('/requests?limit=x&before=y')).toMatchObject({
      status: 400,
      body: { fields: { limit: expect.any(String), before: expect.any(String) } },
    });
  });
});

describe('one request', () => {
  test('has one spelling of its id', async () => {
    await capture(2);
    const saved = await client.call('saveRequest', { params: { uid }, body: { index: 0 } });
    for (const spelling of [`0${saved.id}`, `+${saved.id}`, `${saved.id}.0`, `%20${saved.id}`, '-01000001', '0', '-0'])
      for (const path of [`/requests/${spelling}`, `/requests/${spelling}/body`, `/requests/${spelling}/deliveries`])
        expect(await at(path)).toMatchObject({ status: 404, body: { code: 'REQUEST_NOT_FOUND' } });
    expect((await at(`/requests/${saved.id}`)).status).toBe(200);
    expect((await at('/requests/-1000001')).status).toBe(200);
  });

  test('is whole, and its exact bytes are a download that no browser runs', async () => {
    const bytes = Buffer.from([0, 1, 2, 0xff, 0xfe, 60, 115, 62]);
    await client.send(`/h/${uid}`, { method: 'POST', body: bytes, headers: { 'content-type': 'text/html' } });
    const id = unsavedId(0);
    expect(await client.call('getRequest', { params: { uid, id } })).toMatchObject({
      body: bytes.toString('base64'),
      bodyEncoding: 'base64',
      bodyTruncated: false,
      contentType: 'text/html',
    });
    const answer = await client.send(`/api/endpoints/${uid}/requests/${id}/body`);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="request-0.bin"',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
  });

  test('is truncated in lists at a whole character, and whole by itself', async () => {
    const text = `${'x'.repeat(16_383)}é and more`;
    await client.send(`/h/${uid}`, { method: 'POST', body: text });
    const [listed] = await client.call('listUnsaved', { params: { uid } });
    expect(listed).toMatchObject({ body: 'x'.repeat(16_383), bodyTruncated: true, size: Buffer.byteLength(text) });
    expect(await client.call('getRequest', { params: { uid, id: unsavedId(0) } })).toMatchObject({
      body: text,
      bodyTruncated: false,
    });
  });

  test('without a body has null', async () => {
    await capture(1, 'GET');
    expect(await client.call('getRequest', { params: { uid, id: unsavedId(0) } })).toMatchObject({
      body: null,
      size: 0,
    });
    expect((await client.call('getRequestBody', { params: { uid, id: unsavedId(0) } })).byteLength).toBe(0);
  });
});

describe('saving', () => {
  test('answers with the whole body, or with its beginning if the client prefers that', async () => {
    const text = `{"text":"${'x'.repeat(40_000)}"}`;
    await client.send(`/h/${uid}`, { method: 'POST', body: text });
    expect((await save(0)).body).toMatchObject({ index: 0, saved: true, body: text, bodyTruncated: false });
    expect((await save(0)).body).toMatchObject({ body: text });
    const short = await client.answerTo(`/api/endpoints/${uid}/save-request`, {
      method: 'POST',
      json: { index: 0 },
      headers: { prefer: 'respond-async, return=minimal' },
    });
    expect(short).toMatchObject({ status: 200, body: { body: text.slice(0, 16_384), bodyTruncated: true } });
  });

  test('by index, keeps it and changes the id; again, it is the same', async () => {
    await capture(3);
    const saved = await save(1);
    expect(saved).toMatchObject({ status: 200, body: { index: 1, saved: true, body: 'body 1' } });
    expect((await save(1)).body).toEqual(saved.body);
    const { id } = await client.call('saveRequest', { params: { uid }, body: { index: 1 } });
    expect(id).toBeGreaterThan(0);
    const detail = await client.call('getRequest', { params: { uid, id } });
    expect(detail).toMatchObject({ id, index: 1, saved: true, body: 'body 1', signature: null });
    expect((await at(`/requests/${unsavedId(1)}`)).status).toBe(404);
  });

  test('by twenty in parallel returns the same request', async () => {
    await capture(1);
    const answers = await Promise.all(Array.from({ length: 20 }, () => save(0)));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await client.call('listSaved', { params: { uid } })).toHaveLength(1);
  });

  test('several by their indexes; again gives the same', async () => {
    await capture(4);
    const { id } = await client.call('saveRequest', { params: { uid }, body: { index: 1 } });
    const body = { indexes: [3, 1, 9, -1, 0] };
    const saved = await client.call('saveRequests', { params: { uid }, body });
    expect(saved.map(({ index }) => index)).toEqual([3, 1, 0]);
    expect(saved[1]).toEqual({ index: 1, id });
    const listed = await client.call('listSaved', { params: { uid } });
    expect(listed.map((one) => ({ index: one.index, id: one.id }))).toEqual(saved);
    expect(await client.call('saveRequests', { params: { uid }, body })).toEqual(saved);
    expect((await at('/save-requests', { method: 'POST', json: { indexes: [] } })).status).toBe(400);
  });

  test('rejects unknown requests and invalid indexes', async () => {
    await capture(1);
    for (const index of [1, 1_000_000, 9_007_199_254_740_991, -1, -1_000_000])
      expect(await save(index)).toMatchObject({ status: 404, body: { code: 'REQUEST_NOT_FOUND' } });
    for (const index of [0.5, '0', null, undefined, [0]]) {
      expect(await save(index)).toMatchObject({
        status: 400,
        body: { fields: { index: 'index must be a whole number' } },
      });
    }
  });

  test('stops at MAX_SAVED_PER_ENDPOINT, manually and by autosave', async () => {
    await capture(6);
    for (let index = 0; index < 3; index += 1) expect((await save(index)).status).toBe(200);
    const saveSome = (some: readonly number[]) => at('/save-requests', { method: 'POST', json: { indexes: some } });
    expect(await saveSome([5, 4, 3, 2])).toMatchObject({
      status: 200,
      body: [{ index: 5 }, { index: 4 }, { index: 2 }],
    });
    expect(await saveSome([3])).toMatchObject({ status: 403, body: { code: 'SAVED_LIMIT' } });
    expect(await saveSome([9])).toMatchObject({ status: 200, body: [] });
    expect(await save(3)).toMatchObject({ status: 403, body: { code: 'SAVED_LIMIT' } });
    await client.call('changeEndpoint', { params: { uid }, body: { autosave: true } });
    await capture(1);
    expect(indexes(await client.call('listUnsaved', { params: { uid } }))).toEqual([6, 3]);
    await at('/requests', { method: 'DELETE' });
    await capture(1);
    expect(indexes(await client.call('listSaved', { params: { uid } }))).toEqual([7]);
  });
});

describe('deleting and clearing', () => {
  test('one, saved or unsaved, once', async () => {
    await capture(2);
    const { id } = await client.call('saveRequest', { params: { uid }, body: { index: 0 } });
    for (const one of [id, unsavedId(1)]) {
      expect((await at(`/requests/${one}`, { method: 'DELETE' })).status).toBe(204);
      expect(await at(`/requests/${one}`, { method: 'DELETE' })).toMatchObject({
        status: 404,
        body: { code: 'REQUEST_NOT_FOUND' },
      });
    }
    expect((await client.call('getEndpoint', { params: { uid } })).requestCount).toBe(0);
  });

  test('several, saved or unsaved, by their indexes; again, it is a 204, too', async () => {
    await capture(4);
    await save(1);
    const other = (await client.call('createEndpoint', { body: {} })).uid;
    await captureMany(client, other, { count: 1 });
    for (let round = 0; round < 2; round++) {
      const answer = await at('/delete-requests', { method: 'POST', json: { indexes: [0, 1, 3, 9, -1] } });
      expect(answer.status).toBe(204);
      expect(await client.call('listSaved', { params: { uid } })).toEqual([]);
      expect(indexes(await client.call('listUnsaved', { params: { uid } }))).toEqual([2]);
    }
    expect(await client.call('listUnsaved', { params: { uid: other } })).toHaveLength(1);
  });

  test('a thousand at most, and only by whole numbers', async () => {
    await capture(2);
    const remove = (json: object) => at('/delete-requests', { method: 'POST', json });
    const numbers = Array.from({ length: 1001 }, (_, index) => index);
    for (const wrong of [
      {},
      { indexes: [] },
      { indexes: 0 },
      { indexes: [0, '1'] },
      { indexes: [0.5] },
      { indexes: numbers },
    ])
      expect(await remove(wrong)).toMatchObject({
        status: 400,
        body: { fields: { indexes: 'indexes must be 1 to 1,000 whole numbers' } },
      });
    expect(await client.call('listUnsaved', { params: { uid } })).toHaveLength(2);
    expect((await remove({ indexes: numbers.slice(0, 1000) })).status).toBe(204);
    expect(await client.call('listUnsaved', { params: { uid } })).toEqual([]);
  });

  test('everything, and the numbers continue', async () => {
    await capture(3);
    await save(0);
    expect((await at('/requests', { method: 'DELETE' })).status).toBe(204);
    expect(await client.call('listSaved', { params: { uid } })).toEqual([]);
    expect(await client.call('listUnsaved', { params: { uid } })).toEqual([]);
    await capture(1);
    expect(indexes(await client.call('listUnsaved', { params: { uid } }))).toEqual([3]);
  });
});
