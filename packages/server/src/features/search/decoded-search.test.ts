import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { startServerProcess } from '../../../test/server-process.ts';
import { createTestClient } from '../../../test/test-client.ts';

/** A process of its own, which ends if it reads freed memory: glibc returns that of larger buffers to the system at once. */
const server = await startServerProcess({ MALLOC_MMAP_THRESHOLD_: String(128 * 1024) });
afterAll(() => server.stop());

test('a search frees a body only when its decoder has stopped reading it', async () => {
  const client = createTestClient(server.origin);
  const body = { username: 'owner', password: 'a good password', email: 'owner@example.com' };
  await client.call('register', { body });
  const { uid } = await client.call('createEndpoint', { body: {} });
  const coded = Uint8Array.from(gzipSync(randomBytes(2 * 1024 * 1024)));
  await client.send(`/h/${uid}`, { method: 'POST', body: coded, headers: { 'content-encoding': 'gzip' } });
  // Random bytes are not JSON, so each search ends right after the decoding. One in a few dozen ended the process.
  for (let nth = 0; nth < 100; nth += 1)
    expect(await client.call('search', { query: { q: `json.a:${nth}` } })).toEqual([]);
});
