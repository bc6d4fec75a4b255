import { afterAll, expect, test } from 'vitest';
import { openLive, shows, toldIndexes } from '../../../test/live-viewer.ts';
import type { LiveViewer } from '../../../test/live-viewer.ts';
import { startServerProcess } from '../../../test/server-process.ts';
import { createTestClient } from '../../../test/test-client.ts';

/**
 * Viewers that do not read use bounded memory, do not slow down others, and recover with a new `init` (docs/api.md,
 * "Live").
 */
const SLOW = 10;
/** A viewer that does not read for a minute is dropped, so a busy machine must store them faster. */
const CAPTURES = 1200;
const MIB = 1024 * 1024;
const server = await startServerProcess({ MAX_UNSAVED_PER_ENDPOINT: '100' });
const client = createTestClient(server.origin);
await client.call('register', {
  body: { username: 'owner', password: 'a good password', email: 'owner@example.com' },
});
const uid = (await client.call('createEndpoint', { body: {} })).uid;
afterAll(() => server.stop());

async function storm(count: number): Promise<void> {
  const body = 'x'.repeat(20_000);
  let left = count;
  const send = async (): Promise<void> => {
    while ((left -= 1) >= 0) {
      const answer = await fetch(`${server.origin}/h/${uid}`, { method: 'POST', body });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`A capture was answered ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
}

test('ten that do not read, 24 MB of captures: little memory, a complete feed for the reader, a new init after they read again', async () => {
  await storm(200);
  const reader = await openLive(client, uid);
  const slow = await Promise.all(Array.from({ length: SLOW }, () => openLive(client, uid)));
  for (const { socket } of slow) socket.pause();
  const resting = await server.residentBytes();
  await storm(CAPTURES);
  // Kept completely, their unsent data would be 240 MB.
  expect((await server.residentBytes()) - resting).toBeLessThan(160 * MIB);

  const last = 200 + CAPTURES - 1;
  await reader.until(shows(last));
  expectUnbroken(reader, last);

  for (const { socket } of slow) socket.resume();
  await Promise.all(slow.map((viewer) => viewer.until(shows(last))));
  await storm(1);
  for (const viewer of slow) {
    await viewer.until(shows(last + 1));
    expectUnbroken(viewer, last + 1);
    expect(viewer.messages.filter((message) => message.type === 'init').length).toBeGreaterThan(1);
  }
  for (const viewer of [reader, ...slow]) await viewer.close();
});

/** Since its last `init`: every request up to the last one, each once. */
function expectUnbroken(viewer: LiveViewer, last: number): void {
  const told = toldIndexes(viewer.messages);
  expect(told.length).toBeGreaterThanOrEqual(100);
  expect(told).toEqual(Array.from({ length: told.length }, (_, at) => last - told.length + 1 + at));
}
