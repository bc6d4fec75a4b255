import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { listenLocally } from '../../../fixtures/listen-locally.ts';
import { connect } from './connection.ts';

test.each([
  ['does not answer', () => {}],
  ['stops in its answer', (response: ServerResponse) => void response.write('{"id":')],
])('a server that %s ends a call', async (_, answer) => {
  const silent = createServer((__, response) => answer(response));
  const server = `http://127.0.0.1:${await listenLocally(silent)}`;
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const { client } = connect({ server, cookies: {} }, 500);
  await expect(client.call('getUser', {})).rejects.toThrow(`${server} could not be reached (no answer within 0.5 s).`);
});

test.each([
  ['closes', (response: ServerResponse) => void response.socket?.end()],
  ['resets', (response: ServerResponse) => void response.socket?.resetAndDestroy()],
])('says that a server %s the connection in its response', async (_, cut) => {
  const cutting = createServer((__, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"id":', () => cut(response));
  });
  const server = `http://127.0.0.1:${await listenLocally(cutting)}`;
  onTestFinished(() => void cutting.close());
  const { client } = connect({ server, cookies: {} });
  await expect(client.call('getUser', {})).rejects.toThrow(
    `${server} could not be reached (the connection was closed before the end of the response).`,
  );
});
