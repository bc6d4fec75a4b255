import { expect, test } from 'vitest';
import { connectionAfter, NOT_LIVE } from '../api/live-feed.ts';
import { connectionMessage } from './connection-message.ts';

const LOST = 'Not connected to real-time updates. Refresh the page to reconnect.';

test('from a lost connection until the next one, the page says that it is not connected', () => {
  const messages: (string | undefined)[] = [];
  let live = NOT_LIVE;
  for (const state of [
    'connecting',
    'connected',
    'disconnected',
    'connecting',
    'disconnected',
    'connecting',
  ] as const) {
    live = { ...live, ...connectionAfter(live, state) };
    messages.push(connectionMessage(true, live));
  }
  expect(messages).toEqual([undefined, undefined, LOST, LOST, LOST, LOST]);
  expect(connectionMessage(true, { ...live, ...connectionAfter(live, 'connected') })).toBeUndefined();
  expect(connectionMessage(true, connectionAfter(live, 'ended'))).toBe(LOST);
});

test('a page without a live connection says that the server cannot be reached', () => {
  expect(connectionMessage(false, NOT_LIVE)).toBe("Can't reach the server. Reconnecting…");
  expect(connectionMessage(true, NOT_LIVE)).toBeUndefined();
});
