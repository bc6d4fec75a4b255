import { expect, test } from 'vitest';
import { defaultTab } from '../features/requests/default-tab.ts';
import { bodyKind, imageType, parseForm, mediaType } from './body-kind.ts';
import { bodyBytes, textOf, textOfBeginning, toBase64, latin1Bytes, readable } from './encoding.ts';
import { parseMultipart, safeFileName } from './multipart.ts';
import { hexDump, hexLine } from './view-lines.ts';
import { formatXml } from './xml.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

test.each([
  ['text', 'a\0é', 'utf8', [97, 0, 0xc3, 0xa9]],
  ['base64', '/wAB', 'base64', [255, 0, 1]],
  ['nothing', null, 'utf8', []],
] as const)('bytes of %s', (_, body, encoding, bytes) => expect([...bodyBytes(body, encoding)]).toEqual(bytes));

test('base64 round trip, longer than a call accepts', () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, at) => at % 256);
  expect(bodyBytes(toBase64(bytes), 'base64')).toEqual(bytes);
});

test('a text keeps its byte order mark; invalid UTF-8 is not text', () => {
  expect(textOf(utf8('\uFEFFa'))).toBe('\uFEFFa');
  expect(textOf(Uint8Array.of(0xff))).toBeUndefined();
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

test.each([
  ['no body', 0, 'application/json', false, 'headers'],
  ['JSON by its type', 3, 'application/vnd.api+json', false, 'json'],
  ['text', 3, 'text/plain', true, 'raw'],
  ['XML', 3, 'application/xml', true, 'raw'],
  ['HTML', 3, 'application/xhtml+html', true, 'raw'],
  ['no type, JSON inside', 3, null, true, 'json'],
  ['no type, no JSON', 3, null, false, 'raw'],
  ['another type, JSON inside', 3, 'application/octet-stream', true, 'json'],
])('default tab: %s', (_, size, type, json, tab) => expect(defaultTab(size, type, () => json)).toBe(tab));

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
  ['a question mark is text', '?a=1', [['?a', '1']]],
  ['no form', '{"a": 1}', undefined],
  ['nothing', '', undefined],
] as const)('form: %s', (_, text, fields) => expect(parseForm(text)).toEqual(fields));

test('hex lines', () => {
  const bytes = Uint8Array.from({ length: 20 }, (_, at) => at + 0x30);
  expect(hexLine(bytes, 1)).toEqual({ offset: '00000010', hex: '40 41 42 43', text: '@ABC' });
  expect(hexLine(bytes, 2, 8)).toEqual({ offset: '00000010', hex: '40 41 42 43', text: '@ABC' });
  expect(hexDump(bytes.subarray(0, 2))).toBe(`00000000  30 31${' '.repeat(43)}  |01|`);
});

const MULTIPART = [
  'preamble',
  '--x',
  'Content-Disposition: form-data; name="a"',
  '',
  '1 --x 2',
  '--x',
  'content-disposition: form-data; name="file"; filename="..\\evil.png"; filename*=UTF-8\'\'na%C3%AFve.png',
  'Content-Type: image/png',
  '',
  '\u0000\u00ff',
  '--x--',
  'epilogue',
].join('\r\n');

test('multipart parts to the byte', () => {
  const parts = parseMultipart(latin1Bytes(MULTIPART), 'multipart/form-data; boundary=x') ?? [];
  expect(parts.map(({ name, filename, contentType, bytes }) => [name, filename, contentType, [...bytes]])).toEqual([
    ['a', undefined, undefined, [...utf8('1 --x 2')]],
    ['file', 'naïve.png', 'image/png', [0, 255]],
  ]);
});

test.each([
  ['without a boundary', 'multipart/form-data', '--x\r\n\r\n1'],
  ['with another boundary', 'multipart/form-data; boundary=y', '--x\r\n\r\n1'],
  ['of another type', 'text/plain; boundary=x', '--x\r\n\r\n1'],
])('no multipart: %s', (_, type, text) => expect(parseMultipart(latin1Bytes(text), type)).toBeUndefined());

test('a truncated multipart body returns its complete parts', () => {
  const parts = parseMultipart(
    latin1Bytes('--x\r\nContent-Disposition: form-data; name=a\r\n\r\nhal'),
    'multipart/mixed; boundary=x',
  );
  expect(parts?.map(({ name, bytes }) => [name, bytes.length])).toEqual([['a', 3]]);
});

test.each([
  ['a path', '../../etc/passwd', '_.._etc_passwd'],
  ['dots', '..', 'part'],
  ['a turned text', 'a\u202Egnp.exe', 'a_gnp.exe'],
  ['nothing', undefined, 'part'],
])('file name: %s', (_, name, safe) => expect(safeFileName(name, 'part')).toBe(safe));

test.each([
  [
    'elements',
    '<?xml version="1.0"?><a><b x="1>2">t</b><c/><d></d></a>',
    '<?xml version="1.0"?>\n<a>\n  <b x="1>2">t</b>\n  <c/>\n  <d></d>\n</a>',
  ],
  [
    'CDATA and comments',
    '<a><!-- <x> --><b><![CDATA[<y>]]></b></a>',
    '<a>\n  <!-- <x> -->\n  <b><![CDATA[<y>]]></b>\n</a>',
  ],
  ['mixed content stays as it came', '<p>one <b>two</b></p>', undefined],
  ['broken nesting', '<a><b></a></b>', undefined],
  ['an open end', '<a>', undefined],
  ['no XML', 'hello', undefined],
])('XML: %s', (_, text, lines) => expect(formatXml(text)).toBe(lines));
