import { expect, test } from 'vitest';
import { decodedBody, MAX_DECODED_BODY_BYTES } from './searchable-request.ts';
import type { Decode } from './searchable-request.ts';

const BODY = new Uint8Array([1, 2]);

/** Returns these pieces, and then fails unless it ends well. */
function decoderOf(sizes: readonly number[], endsWell = true): Decode {
  return async function* pieces() {
    for (const size of sizes) yield new Uint8Array(size).fill(7);
    if (!endsWell) throw new Error('The body is not valid in this coding.');
  };
}

test('is the pieces in order', async () => {
  const decoded = await decodedBody(BODY, ['gzip'], async function* pieces() {
    yield new Uint8Array([1, 2]);
    yield new Uint8Array([3]);
  });
  expect([...decoded]).toEqual([1, 2, 3]);
});

test('is cut at the maximum, and what follows is not decoded', async () => {
  const decoded = await decodedBody(BODY, ['gzip'], decoderOf([MAX_DECODED_BODY_BYTES - 1, 2], false));
  expect(decoded).toHaveLength(MAX_DECODED_BODY_BYTES);
});

test('is unchanged if the body does not have the coding', async () => {
  expect(await decodedBody(BODY, ['br'], decoderOf([5], false))).toBe(BODY);
});

test('of several codings, the last one is decoded first, and each from what the one before gave', async () => {
  const steps: unknown[] = [];
  const decoded = await decodedBody(BODY, ['gzip', 'br'], async function* pieces(coding, bytes) {
    steps.push([coding, ...bytes]);
    yield new Uint8Array([steps.length]);
  });
  expect(steps).toEqual([
    ['br', 1, 2],
    ['gzip', 1],
  ]);
  expect([...decoded]).toEqual([2]);
});

test('is unchanged if it does not have one of several codings', async () => {
  expect(
    await decodedBody(BODY, ['gzip', 'br'], (coding, bytes) => decoderOf([5], coding === 'br')(coding, bytes)),
  ).toBe(BODY);
});

test('between two codings at most the maximum is kept, and decoded as far as it goes', async () => {
  const kept: number[] = [];
  const decoded = await decodedBody(BODY, ['gzip', 'br'], (coding, bytes) => {
    kept.push(bytes.length);
    return decoderOf(coding === 'br' ? [MAX_DECODED_BODY_BYTES, 1] : [3], coding === 'br')(coding, bytes);
  });
  expect(kept).toEqual([2, MAX_DECODED_BODY_BYTES]);
  expect([...decoded]).toEqual([7, 7, 7]);
});

test('has the coding of its bytes', async () => {
  const codings: string[] = [];
  const note: Decode = (coding, bytes) => {
    codings.push(coding);
    return decoderOf([1])(coding, bytes);
  };
  for (const bytes of [
    [0x78, 0x9c],
    [1, 2],
  ])
    await decodedBody(new Uint8Array(bytes), ['deflate'], note);
  expect(codings).toEqual(['deflate', 'deflate-raw']);
});
