import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { listenLocally } from '../../../fixtures/listen-locally.ts';
import { connect } from './connection.ts';

test('a server that does not answer ends a call', async () => {
  const silent = createServer(() => {});
  const server = `http://127.0.0.1:${await listenLocally(silent)}`;
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const { client } = connect({ server, cookies: {} }, 20);
  await expect(client.call('getUser', {})).rejects.toThrow(`${server} could not be reached (no answer within 0.02 s).`);
});
