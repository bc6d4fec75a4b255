import { expect, test } from 'vitest';
import { NOT_LIVE, stateAfter } from '../api/live-feed.ts';
import { connectionMessage } from './app-layout.tsx';

const LOST = 'Not connected to real-time updates. Refresh the page to reconnect.';

test('from a lost connection until the next one, the page says that it is not connected', () => {
  const messages: (string | undefined)[] = [];
  let shown = NOT_LIVE.state;
  for (const state of [
    'connecting',
    'connected',
    'disconnected',
    'connecting',
    'disconnected',
    'connecting',
  ] as const) {
    shown = stateAfter(shown, state);
    messages.push(connectionMessage('up', { state: shown }));
  }
  expect(messages).toEqual([undefined, undefined, LOST, LOST, LOST, LOST]);
  expect(connectionMessage('up', { state: stateAfter(shown, 'connected') })).toBeUndefined();
  expect(connectionMessage('up', { state: stateAfter(shown, 'ended') })).toBe(LOST);
});

test('a page without a live connection says that the server cannot be reached or cannot answer', () => {
  expect(connectionMessage('unreachable', NOT_LIVE)).toBe("Can't reach the server. Reconnecting…");
  expect(connectionMessage('unavailable', NOT_LIVE)).toBe("The server can't load data now. Trying again…");
  expect(connectionMessage('up', NOT_LIVE)).toBeUndefined();
});
