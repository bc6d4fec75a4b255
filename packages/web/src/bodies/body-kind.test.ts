import { expect, test } from 'vitest';
import { viewPlain } from './view-body.ts';
import { bodyKind, fileExtension, imageType, mediaType, parseForm } from './body-kind.ts';
import { textOf } from '@creel/contract';

const utf8 = (text: string) => new TextEncoder().encode(text);

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

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0);

test.each([
  ['nothing', new Uint8Array(), null, 'none'],
  ['JSON that says text', utf8('{}'), 'text/plain', 'json'],
  ['text that says JSON', utf8('hello'), 'application/json', 'text'],
  ['a PNG that says JSON', PNG, 'application/json', 'image'],
  ['text that says PNG', utf8('hello'), 'image/png', 'text'],
  ['a form', utf8('a=1&b=2'), 'application/x-www-form-urlencoded', 'form'],
  ['XML that says a form', utf8('<a/>'), 'application/x-www-form-urlencoded', 'xml'],
  ['XML', utf8('<?xml version="1.0"?><a/>'), null, 'xml'],
  ['SVG is no image', utf8('<svg onload="x"/>'), 'image/svg+xml', 'xml'],
  ['HTML is text', utf8('<!DOCTYPE html><p>'), 'text/html', 'text'],
  ['multipart', utf8('--x'), 'multipart/form-data; boundary=x', 'multipart'],
  ['bytes', Uint8Array.of(0xff, 0), null, 'binary'],
  ['text with NUL', utf8('a\0b'), null, 'binary'],
] as const)('kind: %s', (_, bytes, contentType, kind) => {
  const text = textOf(bytes);
  expect(bodyKind({ bytes, text, isJson: text === '{}', contentType })).toBe(kind);
});

test('an image is recognized by its bytes', () => {
  expect(imageType(PNG)).toBe('image/png');
  expect(imageType(utf8('RIFF0000WEBPVP8 '))).toBe('image/webp');
  expect(imageType(utf8('<svg/>'))).toBeUndefined();
});

test.each([
  ['png', PNG],
  ['jpeg', Uint8Array.of(0xff, 0xd8, 0xff, 0xe0)],
  ['gz', Uint8Array.of(0x1f, 0x8b, 8, 0)],
  ['json', utf8('{"a": 1}\n')],
  ['txt', utf8('{"a": 1')],
  ['txt', utf8('<script>alert(1)</script>')],
  ['txt', utf8('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['bin', utf8('a\0b')],
  ['bin', Uint8Array.of(0xff, 0)],
])('file extension: %s', (extension, bytes) => expect(fileExtension(bytes)).toBe(extension));

test.each([
  ['plain', 'Text/Plain', 'text/plain', {}],
  [
    'with parameters',
    'multipart/form-data; boundary="a;b"; charset=utf-8',
    'multipart/form-data',
    { boundary: 'a;b', charset: 'utf-8' },
  ],
  ['missing', null, '', {}],
])('media type: %s', (_, header, type, parameters) => {
  const read = mediaType(header);
  expect([read.type, Object.fromEntries(read.parameters)]).toEqual([type, parameters]);
});

test.each([
  [
    'fields in order, doubles',
    'a=1&b=2&a=3',
    [
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
    ],
  ],
  [
    'decoded',
    'From=%2B49&Body=Hello+w%C3%B6rld',
    [
      ['From', '+49'],
      ['Body', 'Hello wörld'],
    ],
  ],
  ['brackets in a name', 'item[0][id]=1', [['item[0][id]', '1']]],
  ['a question mark is text', '?a=1', [['?a', '1']]],
  [
    'as curl -d sends it, which encodes nothing',
    'payload={"name":"Ada Lovelace"}&note=a <b>',
    [
      ['payload', '{"name":"Ada Lovelace"}'],
      ['note', 'a <b>'],
    ],
  ],
  ['no form', '{"a": 1}', undefined],
  ['JSON that is cut off', '{"a": "b=c', undefined],
  ['a sentence', 'the sum is a=1', undefined],
  ['several lines', 'A=1\nB=2', undefined],
  ['nothing', '', undefined],
] as const)('form: %s', (_, text, fields) => expect(parseForm(text)).toEqual(fields));
