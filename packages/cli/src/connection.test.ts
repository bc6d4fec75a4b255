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
