import { compress } from 'brotli/compress';
import { afterEach, expect, test, vi } from 'vitest';
import { unbrotli } from './brotli.ts';
import { decodeBody } from './decode-body.ts';

const TEXT = 'hello '.repeat(100);
const LINES = Array.from({ length: 20_000 }, (_, at) => `line ${at * 7919}`).join('\n');
const utf8 = (text: string) => new TextEncoder().encode(text);
const loadBrotli = async () => unbrotli;

afterEach(() => vi.unstubAllGlobals());

async function pack(format: CompressionFormat, bytes = utf8(TEXT)): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

async function brotli(bytes = utf8(TEXT)): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array((await compress(bytes)) ?? []);
}

test.each([
  ['gzip', () => pack('gzip'), 'gzip'],
  ['x-gzip in another case', () => pack('gzip'), 'X-GZip'],
  ['zlib', () => pack('deflate'), 'deflate'],
  ['raw deflate that says deflate', () => pack('deflate-raw'), 'deflate'],
  ['brotli', () => brotli(), 'br'],
  ['two codings', async () => brotli(await pack('gzip')), 'gzip, br'],
])('decodes %s', async (_, bytes, coding) => {
  const decoded = await decodeBody(await bytes(), coding, loadBrotli);
  expect(decoded.outcome === 'decoded' && [new TextDecoder().decode(decoded.bytes), decoded.cut]).toEqual([
    TEXT,
    false,
  ]);
});

test('decodes every member of gzip, also if the compressed data has the bytes of a header', async () => {
  const header = Uint8Array.of(0x1f, 0x8b, 0x08, 0x00);
  // Random bytes are stored without compression, so the header in them is also in the result.
  const stored = Uint8Array.from([...crypto.getRandomValues(new Uint8Array(200)), ...header]);
  const texts = [utf8('first, '), stored, new Uint8Array(0), utf8('last')];
  const members = await Promise.all(texts.map((text) => pack('gzip', text)));
  expect(members[1]?.join()).toContain(header.join());
  const packed = Uint8Array.from(members.flatMap((member) => [...member]));
  const decoded = await decodeBody(packed, 'gzip', loadBrotli);
  expect(decoded).toEqual({
    outcome: 'decoded',
    coding: 'gzip',
    bytes: Uint8Array.from(texts.flatMap((text) => [...text])),
    cut: false,
  });
  const first = await decodeBody(packed, 'gzip', loadBrotli, { limit: 5 });
  expect(first).toEqual({ outcome: 'decoded', coding: 'gzip', bytes: utf8('first'), cut: true });
});

test('a gzip member with an end that is not gzip is not valid', async () => {
  const packed = Uint8Array.from([...(await pack('gzip')), 0x1f, 0x8b, 0x08, ...utf8('x'.repeat(30))]);
  expect((await decodeBody(packed, 'gzip', loadBrotli)).outcome).toBe('failed');
});

test.each([
  ['gzip', () => pack('gzip', utf8(LINES))],
  ['br', () => compress(utf8(LINES), { lgwin: 16, quality: 5 })],
])('decompression of %s stops at the limit, so an error behind it is not seen', async (coding, packed) => {
  const cut = new Uint8Array((await packed()) ?? []).slice(0, -1000);
  expect((await decodeBody(cut, coding, loadBrotli)).outcome).toBe('failed');
  const decoded = await decodeBody(cut, coding, loadBrotli, { limit: 1000 });
  expect(decoded.outcome === 'decoded' && [decoded.bytes.length, decoded.cut]).toEqual([1000, true]);
});

test('a browser that decompresses whole chunks makes little more than the limit', async () => {
  let made = 0;
  class Expanding extends TransformStream<Uint8Array, Uint8Array> {
    constructor() {
      super({
        transform(chunk, controller) {
          made += chunk.length * 1000;
          controller.enqueue(new Uint8Array(chunk.length * 1000));
        },
      });
    }
  }
  vi.stubGlobal('DecompressionStream', Expanding);
  const decoded = await decodeBody(new Uint8Array(1_000_000), 'deflate', loadBrotli, { limit: 1000 });
  expect(decoded.outcome === 'decoded' && [decoded.bytes.length, decoded.cut]).toEqual([1000, true]);
  expect(made).toBeLessThan(10_000_000);
});

test.each([
  ['no coding', undefined, 'none'],
  ['identity', 'identity', 'none'],
  ['no gzip at all', 'gzip', 'failed'],
  ['an unknown coding', 'zstd', 'failed'],
  ['no brotli at all', 'br', 'failed'],
  ['more codings than searches decode', 'gzip, gzip, gzip, gzip, gzip', 'failed'],
])('%s', async (_, coding, outcome) => {
  expect((await decodeBody(utf8('plain text'), coding, loadBrotli)).outcome).toBe(outcome);
});

test('the first part of an encoded body decodes to the first part of its text', async () => {
  const packed = await pack('gzip', utf8(LINES));
  const decoded = await decodeBody(packed.subarray(0, packed.length / 2), 'gzip', loadBrotli, { beginning: true });
  expect(
    decoded.outcome === 'decoded' && decoded.cut && LINES.startsWith(new TextDecoder().decode(decoded.bytes)),
  ).toBe(true);
});

test('the first part of a brotli body is not decoded, and is not called invalid', async () => {
  const packed = await brotli();
  const decoded = await decodeBody(packed.subarray(0, packed.length / 2), 'br', loadBrotli, { beginning: true });
  expect(decoded).toMatchObject({ reason: "The beginning of a br body can't be decoded alone." });
});

test('a decoder that is not loaded does not make the body invalid', async () => {
  const failed = decodeBody(await brotli(), 'br', () => Promise.reject(new Error('offline')));
  await expect(failed).rejects.toThrow('offline');
});
