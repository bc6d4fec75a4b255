import { expect, test } from 'vitest';
import { connectionAfter, NOT_LIVE } from '../api/live-feed.ts';
import { connectionMessage } from './app-layout.tsx';

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
    messages.push(connectionMessage('up', live));
  }
  expect(messages).toEqual([undefined, undefined, LOST, LOST, LOST, LOST]);
  expect(connectionMessage('up', { ...live, ...connectionAfter(live, 'connected') })).toBeUndefined();
  expect(connectionMessage('up', connectionAfter(live, 'ended'))).toBe(LOST);
});

test('a page without a live connection says that the server cannot be reached or cannot answer', () => {
  expect(connectionMessage('unreachable', NOT_LIVE)).toBe("Can't reach the server. Reconnecting…");
  expect(connectionMessage('unavailable', NOT_LIVE)).toBe("The server can't load data now. Trying again…");
  expect(connectionMessage('up', NOT_LIVE)).toBeUndefined();
});
