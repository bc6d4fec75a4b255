import { bodyBytesOf, textOf, textOfBeginning } from '@creel/contract';
import { expect, test } from 'vitest';
import { escapeBidiControls, invalidUtf8At, latin1Bytes, readable, toBase64 } from './encoding.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

test('direction controls are escaped, letters of any direction stay', () => {
  expect(escapeBidiControls('"a\u202Eb\u2066\u200F"')).toBe('"a\\u202eb\\u2066\\u200f"');
  expect(escapeBidiControls('"مرحبا שלום"')).toBe('"مرحبا שלום"');
});

test('base64 of more bytes than a call accepts is decoded to the same bytes', () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, at) => at % 256);
  expect(bodyBytesOf({ body: toBase64(bytes), bodyEncoding: 'base64' })).toEqual(bytes);
});

test('a text keeps its byte order mark; invalid UTF-8 is not text', () => {
  expect(textOf(utf8('\uFEFFa'))).toBe('\uFEFFa');
  expect(textOf(Uint8Array.of(0xff))).toBeUndefined();
});

test.each([
  ['a byte that begins no character', [0x61, 0xc3, 0xa9, 0xff, 0xff], 3],
  ['a character of Latin-1', [0x63, 0x61, 0x66, 0xe9, 0x22], 3],
  ['valid UTF-8', [0x61, 0xc3, 0xa9], undefined],
  ['an end within a character', [0x61, 0xe2, 0x82], 1],
  ['nothing', [], undefined],
])('the position of invalid UTF-8: %s', (_, bytes, position) => {
  expect(invalidUtf8At(Uint8Array.from(bytes))).toBe(position);
});

test('a truncated text may end within a character', () => {
  expect(textOfBeginning(utf8('aé').subarray(0, 2))).toBe('a');
  expect(textOfBeginning(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff))).toBeUndefined();
});

test.each([
  ['plain text', 'abc', 'abc'],
  ['UTF-8', 'cafÃ©', 'café'],
  ['Latin-1', 'caf\u00e9', 'caf\u00e9'],
])('wire text that is %s', (_, sent, read) => expect(readable(sent)).toBe(read));

test('Latin-1 text is its bytes', () => expect([...latin1Bytes('a\u00ff')]).toEqual([97, 255]));
