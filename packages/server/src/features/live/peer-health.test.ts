import { expect, test } from 'vitest';
import { PeerHealth } from './peer-health.ts';

test('a peer that answers each ping is alive', () => {
  const peer = new PeerHealth();
  expect(peer.isAlive).toBe(true);
  peer.notePing(false);
  expect(peer.isAlive).toBe(false);
  peer.notePong();
  expect(peer.isAlive).toBe(true);
});

test('a peer with waiting data must read some of it: pongs are not enough', () => {
  const peer = new PeerHealth();
  peer.noteWaiting();
  peer.notePing(true);
  peer.notePong();
  expect(peer.isAlive).toBe(false);
  peer.noteAccepted();
  expect(peer.isAlive).toBe(true);
});

test('data that began to wait after the ping may delay the pong', () => {
  const peer = new PeerHealth();
  peer.notePing(false);
  peer.noteWaiting();
  expect(peer.isAlive).toBe(true);
});

test('a thousand frames, or a megabyte of messages, between two pings are no flood yet', () => {
  const peer = new PeerHealth();
  for (let nth = 0; nth < 1000; nth += 1) peer.noteFrame(0);
  expect(peer.isFlooding).toBe(false);
  peer.noteFrame(0);
  expect(peer.isFlooding).toBe(true);
  peer.notePing(false);
  peer.noteFrame(1024 * 1024);
  expect(peer.isFlooding).toBe(false);
  peer.noteFrame(1);
  expect(peer.isFlooding).toBe(true);
});
