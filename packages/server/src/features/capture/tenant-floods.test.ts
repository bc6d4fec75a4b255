import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { exchange, openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import { signUp } from '../../../test/sign-up.ts';
import { startWireApp } from '../../../test/wire-app.ts';

/** One user's captures take at most a share of the queue and of the memory for bodies. */
const MIB = 1024 * 1024;

const app = await startWireApp();
const neighbor = await signUp(app.server.origin);
const neighborPath = `/h/${(await neighbor.createEndpoint()).uid}`;
afterAll(() => app.server.stop());

const sendAsNeighbor = (bytes: number): Promise<number> =>
  exchange(
    { port: app.server.port },
    rawRequest([`POST ${neighborPath} HTTP/1.1`, 'Host: h', `Content-Length: ${bytes}`], Buffer.alloc(bytes, 'x')),
  ).then(({ status }) => status);

test('arriving bodies of one user leave room for a body of 5 MB of another user', async () => {
  const part = Buffer.concat([
    rawRequest([`POST ${app.base} HTTP/1.1`, 'Host: h', `Content-Length: ${12 * MIB}`]),
    Buffer.alloc(12 * MIB - 1, 'x'),
  ]);
  const connections = await Promise.all(Array.from({ length: 22 }, () => openRaw({ port: app.server.port })));
  const refused = Promise.any(connections.map((connection) => connection.final({ timeoutMs: 20_000 })));
  for (const connection of connections) connection.send(part).catch(() => undefined);
  expect((await refused).status).toBe(503);
  expect([await sendAsNeighbor(2), await sendAsNeighbor(5_000_000), await sendAsNeighbor(2)]).toEqual([200, 200, 200]);
  for (const connection of connections) connection.close();
});

test('a neighbor is answered while one endpoint receives more than the server can store', async () => {
  const one = rawRequest([`POST ${app.base} HTTP/1.1`, 'Host: h', 'Content-Length: 2048'], Buffer.alloc(2048, 'x'));
  const [senders, each] = [200, 400];
  const block = Buffer.alloc(one.length * each, one);
  const statuses: number[] = [];
  const answeredBeforeNeighbor = async (): Promise<number> => {
    let answered = 0;
    const flood = Array.from({ length: senders }, () => connect({ port: app.server.port, host: '127.0.0.1' }));
    for (const socket of flood) {
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => (answered += bytes.toString('latin1').split('HTTP/1.1 ').length - 1));
      socket.write(block);
    }
    await expect.poll(() => answered, { interval: 1 }).toBeGreaterThan(0);
    statuses.push(await sendAsNeighbor(2));
    for (const socket of flood) socket.destroy();
    return answered;
  };
  // Repeated, because a busy machine may run this process only when the flood has its answers.
  await expect.poll(answeredBeforeNeighbor).toBeLessThan((senders * each) / 2);
  expect(new Set(statuses)).toEqual(new Set([200]));
});
