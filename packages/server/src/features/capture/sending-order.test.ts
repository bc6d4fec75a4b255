import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { openRaw } from '../../../../../fixtures/raw-http.ts';
import { expectUnharmed, indexOf, startWireApp } from '../../../test/wire-app.ts';

/** The order of each connection is kept for any mix of requests. */
const app = await startWireApp();
afterAll(() => app.server.stop());

const chunked = (path: string): string =>
  `POST ${app.base}${path} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`;
const counted = (path: string, bytes: number): string =>
  `POST ${app.base}${path} HTTP/1.1\r\nHost: h\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;
const bare = (path: string, method = 'GET'): string => `${method} ${app.base}${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
const elsewhere = 'GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n';

/** The indexes in the order of the responses, and the paths in the order of the indexes. */
async function pipelined(parts: readonly string[], answers: number): Promise<{ indexes: number[]; paths: string[] }> {
  const connection = await openRaw({ port: app.server.port });
  for (const [nth, part] of parts.entries()) {
    if (nth > 0) await sleep(30);
    await connection.send(part);
  }
  const indexes: number[] = [];
  for (let nth = 0; nth < answers; nth += 1) {
    const answer = await connection.final();
    if (answer.header('x-creel-request') !== undefined) indexes.push(indexOf(answer));
  }
  connection.close();
  const paths = await Promise.all(
    indexes.toSorted((a, b) => a - b).map(async (index) => (await app.owner.captured(app.endpoint.uid, index)).path),
  );
  return { indexes, paths };
}

const inOrder = (indexes: readonly number[]): number[] => indexes.map((_, nth) => (indexes[0] ?? 0) + nth);

describe('pipelined requests of one connection are captured in order', () => {
  test.each<[string, () => string[], string[]]>([
    ['a chunked one, then one without a body', () => [chunked('/1') + bare('/2')], ['/1', '/2']],
    ['by turns', () => [chunked('/1') + bare('/2') + chunked('/3') + bare('/4', 'DELETE')], ['/1', '/2', '/3', '/4']],
    ['a long one, then one without a body', () => [counted('/1', 60_000) + bare('/2')], ['/1', '/2']],
    [
      'a body whose end comes with the next',
      () => {
        const [whole, next] = [counted('/1', 4), bare('/2')];
        return [whole.slice(0, -2), whole.slice(-2) + next];
      },
      ['/1', '/2'],
    ],
  ])('%s', async (_, parts, expected) => {
    const { indexes, paths } = await pipelined(parts(), expected.length);
    expect(indexes).toEqual(inOrder(indexes));
    expect(paths).toEqual(expected);
  });

  test('after another kind of request', async () => {
    const { indexes, paths } = await pipelined([elsewhere + counted('/1', 3) + bare('/2')], 3);
    expect(indexes).toEqual(inOrder(indexes));
    expect(paths).toEqual(['/1', '/2']);
  });

  test('while the endpoint of the first is being looked up', async () => {
    const { uid } = await app.owner.createEndpoint();
    const connection = await openRaw({ port: app.server.port });
    const line = (path: string): string => `GET /h/${uid}${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
    await connection.send(`${chunked('/0').replace(app.base, `/h/${uid}`)}${line('/1')}${line('/2')}`);
    for (const index of [0, 1, 2]) expect(indexOf(await connection.final())).toBe(index);
    connection.close();
    for (const index of [0, 1, 2]) expect((await app.owner.captured(uid, index)).path).toBe(`/${index}`);
  });

  test('thousands after a slow one', async () => {
    const connection = await openRaw({ port: app.server.port });
    const first = counted('/slow', 4);
    await connection.send(first.slice(0, -2));
    await sleep(30);
    await connection.send(first.slice(-2) + bare('/next').repeat(3000));
    const indexes: number[] = [];
    for (let nth = 0; nth < 3001; nth += 1) indexes.push(indexOf(await connection.final()));
    connection.close();
    expect(indexes).toEqual(inOrder(indexes));
    await expectUnharmed(app);
  });
});

test('nothing is captured after a request that ended its connection', async () => {
  const { uid } = await app.owner.createEndpoint();
  const connection = await openRaw({ port: app.server.port });
  const ambiguous = `POST ${app.base} HTTP/1.1\r\nHost: h\r\nHost: i\r\nContent-Length: 0\r\n\r\n`;
  await connection.send((chunked('/kept') + ambiguous + bare('/never')).replaceAll(app.base, `/h/${uid}`));
  expect(indexOf(await connection.final())).toBe(0);
  expect((await connection.final()).status).toBe(400);
  connection.close();
  expect(await app.owner.stored(uid)).toBe(1);
});

test('an unknown expectation does not lose a request', async () => {
  const connection = await openRaw({ port: app.server.port });
  await connection.send(counted('/expects', 3).replace('Host: h', 'Host: h\r\nExpect: 200-ok'));
  const index = indexOf(await connection.final());
  connection.close();
  expect((await app.owner.captured(app.endpoint.uid, index)).path).toBe('/expects');
});
