import { capturedRequestSchema } from '@creel/contract';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startTestServer } from '../../../test/test-server.ts';

const server = await startTestServer({ settings: { DEFAULT_TIER: 'BASIC' } });
afterAll(() => server.stop());

const lineSchema = capturedRequestSchema.extend({ endpointUid: z.string() });
const headerSchema = z.object({
  format: z.literal('creel-export'),
  version: z.literal(1),
  endpoints: z.array(z.object({ uid: z.string(), name: z.string().nullable() })),
});

function read(text: string) {
  const [first = '', ...rest] = text.split('\n');
  expect(rest.pop()).toBe('');
  return {
    header: headerSchema.parse(JSON.parse(first)),
    requests: rest.map((line) => lineSchema.parse(JSON.parse(line))),
  };
}

const bytesOf = ({ body, bodyEncoding }: z.infer<typeof lineSchema>) => Buffer.from(body ?? '', bodyEncoding);

test('contains every stored request with its exact body', async () => {
  const { client } = await server.register();
  const { uid } = await client.call('createEndpoint', { body: { name: 'One' } });
  const bodies = [
    Buffer.from('{"a":1}'),
    Buffer.from([0, 255, 254, 10, 13]),
    Buffer.from('ünï\0\n"\\'.repeat(100_000)),
    Buffer.alloc(700_000, 0xfe),
    Buffer.alloc(0),
    ...Array.from({ length: 45 }, (_, nth) => Buffer.from(`number ${nth}`)),
  ];
  for (const body of bodies) await client.send(`/h/${uid}?q=1`, { method: 'POST', body });
  await client.call('saveRequest', { params: { uid }, body: { index: 2 } });
  const answer = await client.send('/api/export');
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="creel-export-[\d-]+\.ndjson"$/);
  const { header, requests } = read(await answer.text());
  expect(header.endpoints).toEqual([{ uid, name: 'One' }]);
  expect(requests.map(({ index }) => index)).toEqual(bodies.map((_, index) => index).toReversed());
  for (const request of requests) {
    expect([request.endpointUid, request.bodyTruncated]).toEqual([uid, false]);
    expect(bytesOf(request).equals(bodies[request.index] ?? Buffer.from('missing'))).toBe(true);
  }
});

test('can be limited to endpoints by name, but not to those of others', async () => {
  const [{ client }, stranger] = [await server.register(), await server.register()];
  const uids: string[] = [];
  for (const name of ['One', 'Two', 'Three']) {
    const { uid } = await client.call('createEndpoint', { body: { name } });
    await client.send(`/h/${uid}`, { method: 'POST', body: name });
    uids.push(uid);
  }
  const [one = '', two = ''] = uids;
  const some = read(await (await client.send(`/api/export?endpoint=${one}&endpoint=${two}&endpoint=${one}`)).text());
  expect(some.requests.map(({ body }) => body)).toEqual(['One', 'Two']);
  expect(read(await (await client.send(`/api/export?endpoint=${two}`)).text()).requests).toHaveLength(1);
  expect(await stranger.client.answerTo(`/api/export?endpoint=${one}`)).toMatchObject({
    status: 404,
    body: { code: 'ENDPOINT_NOT_FOUND' },
  });
  expect(read(await (await stranger.client.send('/api/export')).text()).requests).toEqual([]);
});

test('contains a request that is saved while the client is reading those before it', async () => {
  const { client } = await server.register();
  const { uid } = await client.call('createEndpoint', { body: {} });
  // More than the buffers of the connection hold. The server reads the last one when the client has taken the others.
  const count = 20;
  for (let nth = 0; nth < count; nth += 1)
    await client.send(`/h/${uid}`, { method: 'POST', body: 'x'.repeat(1_000_000) });
  const answer = await client.send('/api/export');
  await client.call('saveRequest', { params: { uid }, body: { index: 0 } });
  const { requests } = read(await answer.text());
  expect(requests.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, nth) => nth).toReversed());
  expect(requests.at(-1)).toMatchObject({ saved: true, size: 1_000_000 });
});

test('contains a body that is stored while the client is reading those before it, also if it is the largest', async () => {
  const { client } = await server.register();
  const last = await client.call('createEndpoint', { body: { name: 'Last' } });
  const { uid } = await client.call('createEndpoint', { body: { name: 'First' } });
  // More than the buffers of the connection hold.
  for (let nth = 0; nth < 20; nth += 1) await client.send(`/h/${uid}`, { method: 'POST', body: 'x'.repeat(1_000_000) });
  const answer = await client.send('/api/export');
  await client.send(`/h/${last.uid}`, { method: 'POST', body: 'y'.repeat(22_000_000) });
  const { requests } = read(await answer.text());
  expect(requests.map(({ endpointUid, size }) => [endpointUid, size])).toEqual([
    ...Array.from({ length: 20 }, () => [uid, 1_000_000]),
    [last.uid, 22_000_000],
  ]);
});
