import { OPERATIONS, fillPath } from '@creel/contract';
import type { Operation } from '@creel/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainCall } from '../../test/plain-call.ts';
import { startTestServer } from '../../test/test-server.ts';
import type { TestServer } from '../../test/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ settings: { BILLING: 'test' } });
});
afterAll(() => server.stop());

/** Changes of something that the path names besides the endpoint. */
const CHANGES = Object.entries<Operation>(OPERATIONS).filter(
  ([, { method, path }]) => method !== 'GET' && /\{(?!uid\})/.test(path),
);

test.each(CHANGES)('%s: a missing resource is a 404, whatever the body is', async (_, { method, path }) => {
  const { client } = await server.register();
  const { uid } = await client.call('createEndpoint', { body: {} });
  const send = async (body: string | undefined, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await plainCall(server.port, {
      method,
      path: fillPath(path, { uid, id: 999, deliveryId: 'dlv_unknown' }),
      headers: { 'content-type': 'application/json', cookie: client.jar.header(), ...headers },
      body,
    });
    return { status: answer.status, text: answer.text };
  };
  const refusal = await send(undefined);
  expect(refusal).toMatchObject({ status: 404, text: expect.stringContaining('_NOT_FOUND') });
  expect(await send('{"broken')).toEqual(refusal);
  expect(await send('[]')).toEqual(refusal);
  expect(await send('x', { 'content-type': 'text/plain' })).toEqual(refusal);
  expect(await send('{}', { 'content-encoding': 'gzip' })).toEqual(refusal);
  expect(await send(' '.repeat(1_048_577))).toEqual(refusal);
});
