import { expect, test } from 'vitest';
import { BEGINNING_BYTES, viewBody, viewPlain } from './view-body.ts';
import type { BodySource } from './view-body.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const noBrotli = () => Promise.reject(new Error('no brotli here'));

function source(bytes: Uint8Array<ArrayBuffer>, change: Partial<BodySource> = {}): BodySource {
  return { bytes, complete: true, contentEncoding: undefined, contentType: null, limit: BEGINNING_BYTES, ...change };
}

test.each([
  ['JSON', source(utf8('{"a":1}')), 'json', true],
  ['the beginning of JSON', source(utf8('{"a":1,"b":"x'), { complete: false }), 'json', false],
  ['JSON over the limit', source(utf8('[1,2,3]'), { limit: 4 }), 'json', false],
  ['half of JSON that is all there is', source(utf8('{"a":1,')), 'text', true],
  ['text cut in a character', source(utf8('aé').subarray(0, 2), { complete: false }), 'text', false],
])('%s', (_, given, kind, whole) => {
  const view = viewPlain(given);
  expect([view.kind, view.whole]).toEqual([kind, whole]);
});

test('an encoded body is shown decoded, with both sizes', async () => {
  const packed = new Blob([utf8('{"a":1}')]).stream().pipeThrough(new CompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const view = await viewBody(source(bytes, { contentEncoding: 'gzip' }), noBrotli);
  expect([view.kind, view.text, view.coding]).toEqual([
    'json',
    '{"a":1}',
    { name: 'gzip', decodedSize: 7, problem: undefined, cut: false },
  ]);
});

test("a body that can't be decoded is shown as received, with the reason", async () => {
  const view = await viewBody(source(utf8('{"a":1}'), { contentEncoding: 'gzip' }), noBrotli);
  expect([view.kind, view.coding?.problem]).toEqual(['json', 'The body is not valid gzip.']);
});
