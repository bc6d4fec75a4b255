import { expect, test } from 'vitest';
import { latin1Bytes } from './encoding.ts';
import { parseMultipart, safeFileName } from './multipart.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

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

test('the parts of a multipart body are exact to the byte', () => {
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
