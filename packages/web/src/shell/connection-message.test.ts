import { expect, test } from 'vitest';
import { connectionAfter, NOT_LIVE } from '../api/live-feed.ts';
import { connectionMessage } from './connection-message.ts';

const GIVEN_UP = 'Not connected to real-time updates. Refresh the page to reconnect.';

test('it says Reconnecting until three attempts have failed, and nothing after a success', () => {
  const messages: (string | undefined)[] = [];
  let live = NOT_LIVE;
  const states = [
    'connecting',
    'connected',
    'disconnected',
    'connecting',
    'disconnected',
    'connecting',
    'disconnected',
  ] as const;
  for (const state of [...states, 'connecting', 'disconnected', 'connecting', 'connected'] as const) {
    live = { ...live, ...connectionAfter(live, state) };
    messages.push(connectionMessage(true, live));
  }
  const again = 'Reconnecting…';
  expect(messages).toEqual([
    undefined,
    undefined,
    again,
    again,
    again,
    again,
    again,
    again,
    GIVEN_UP,
    GIVEN_UP,
    undefined,
  ]);
});

test('a page without a live connection says that the server cannot be reached now', () => {
  expect(connectionMessage(false, NOT_LIVE)).toBe("Can't reach the server. Reconnecting…");
  expect(connectionMessage(true, NOT_LIVE)).toBeUndefined();
});

test('a session or endpoint that has ended is not reconnected', () => {
  expect(connectionMessage(true, { ...NOT_LIVE, state: 'ended', lost: true })).toBe(GIVEN_UP);
});
