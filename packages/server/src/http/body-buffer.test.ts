import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { BodyBuffer, copyBody, freeBuffer, freeBytes, freeUnread } from './body-buffer.ts';

const KIB = 1024;

/** A body of this length that differs from its neighbors at every position. */
const bytesOf = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 7 + length) & 255));

function collect(whole: Buffer, partBytes: number, maxBytes = whole.length): Buffer | null {
  const body = new BodyBuffer(maxBytes);
  for (let at = 0; at < whole.length; at += partBytes) {
    // As in a socket, the memory of a part is reused.
    const part = Buffer.from(whole.subarray(at, at + partBytes));
    body.add(part);
    part.fill(0);
  }
  expect(body.size).toBe(whole.length);
  return body.take();
}

test.each<[number, number]>([
  [1, 1],
  [300, 1],
  [16 * KIB + 1, 1000],
  [128 * KIB, 64 * KIB],
  [128 * KIB + 1, 64 * KIB],
  [5_000_000, 64 * KIB],
])('a body of %i bytes in parts of %i', (length, partBytes) => {
  const whole = bytesOf(length);
  expect(collect(whole, partBytes)?.equals(whole)).toBe(true);
  expect(collect(whole, partBytes, 25_000_000)?.equals(whole)).toBe(true);
});

test('no part is no body', () => {
  expect(new BodyBuffer(10).take()).toBeNull();
});

test('bodies that share a block do not overlap', () => {
  const wholes = Array.from({ length: 40 }, (_, nth) => bytesOf(nth * 3000 + 1));
  const copies = wholes.map((whole) => copyBody(whole, 0, whole.length));
  expect(copies.every((copy, nth) => copy.equals(wholes[nth] ?? Buffer.alloc(0)))).toBe(true);
});

test('a body never takes more memory than four times its bytes, or than it may have', () => {
  const body = new BodyBuffer(3_000_000);
  for (let sent = 0; sent < 3_000_000; sent += 50_000) body.add(Buffer.alloc(50_000));
  expect(body.take()?.buffer.byteLength).toBe(3_000_000);
  const begun = new BodyBuffer(25_000_000);
  for (let sent = 0; sent < 200_000; sent += 50_000) begun.add(Buffer.alloc(50_000));
  expect(begun.take()?.buffer.byteLength).toBeLessThanOrEqual(4 * 200_000);
});

test('memory is freed once; a small one is left to the collection', () => {
  const [{ buffer }, { buffer: small }] = [Buffer.allocUnsafeSlow(4096), Buffer.allocUnsafeSlow(4095)];
  freeBuffer(buffer);
  freeBuffer(buffer);
  freeBuffer(small);
  expect([buffer.byteLength, small.byteLength]).toEqual([0, 4095]);
});

test('bytes that share their memory with others are not freed', () => {
  const whole = Buffer.allocUnsafeSlow(10_000);
  freeBytes(whole.subarray(0, 5000));
  expect(whole.length).toBe(10_000);
  freeBytes(whole);
  expect(whole.length).toBe(0);
});

test('all chunks that a closed stream holds unread are freed, except those that share their memory', async () => {
  const stream = new Readable({ read: () => undefined });
  const whole = Buffer.allocUnsafeSlow(10_000);
  const chunks = [whole.subarray(0, 5000), Buffer.allocUnsafeSlow(20_000), Buffer.allocUnsafeSlow(30_000)];
  for (const chunk of chunks) stream.push(chunk);
  stream.destroy();
  await once(stream, 'close');
  freeUnread(stream);
  expect(chunks.map(({ byteLength }) => byteLength)).toEqual([5000, 0, 0]);
});
