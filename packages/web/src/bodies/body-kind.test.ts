import { expect, test } from 'vitest';
import { viewPlain } from './view-body.ts';

const view = (bytes: number[], contentType: string | null, complete = true) => {
  const { text, charset, kind } = viewPlain({
    bytes: new Uint8Array(bytes),
    complete,
    contentEncoding: undefined,
    contentType,
    limit: 1000,
  });
  return { text, charset, kind };
};
const ascii = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));

test('a text in a declared character set is decoded from it', () => {
  expect(view([0x63, 0x61, 0x66, 0xe9], 'text/plain; charset=iso-8859-1')).toEqual({
    text: 'café',
    charset: 'iso-8859-1',
    kind: 'text',
  });
  expect(view([0x83, 0x65, 0x83, 0x58], 'text/plain; charset="Shift_JIS"')).toMatchObject({ text: 'テス' });
  expect(view([0x61, 0, 0x62, 0], 'text/plain; charset=utf-16le')).toMatchObject({ text: 'ab', kind: 'text' });
  expect(view([...ascii('{"a":"'), 0xe9, ...ascii('"}')], 'application/json; charset=latin1').kind).toBe('json');
});

test('UTF-8, and bytes invalid in the declared character set, stay unchanged', () => {
  expect(view([0xc3, 0xa9], 'text/plain; charset=iso-8859-1')).toMatchObject({ text: 'é', charset: undefined });
  expect(view([0xe9, 0x41], 'text/plain; charset=no-such-thing')).toMatchObject({ text: undefined, kind: 'binary' });
  expect(view([0xe9, 0x41], 'text/plain; charset=utf-8')).toMatchObject({ text: undefined, kind: 'binary' });
  expect(view([0xe9, 0x41], 'text/plain')).toMatchObject({ text: undefined, kind: 'binary' });
  expect(view([0x83], 'text/plain; charset=shift_jis')).toMatchObject({ text: undefined, kind: 'binary' });
});

test('a truncated body may end within a character', () => {
  expect(view([0x83, 0x65, 0x83], 'text/plain; charset=shift_jis', false)).toMatchObject({ text: 'テ' });
});

test('an image is shown as one with any content type', () => {
  expect(view([0xff, 0xd8, 0xff, 0xe0], 'image/jpeg; charset=iso-8859-1').kind).toBe('image');
});
