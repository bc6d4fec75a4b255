import type { CapturedRequest } from '@creel/contract';
import { expect, test } from 'vitest';
import { sampleRequest } from '../../../../../fixtures/sample-request.ts';
import {
  inTextArea,
  lineEndsOf,
  withLineEnds,
  bodyEdit,
  capturedText,
  defaultMethod,
  defaultForm,
  methodsFor,
  toReplayBody,
  withChanges,
} from './replay-form.ts';

test.each([
  ['a\nb\n', 'LF'],
  ['a\r\nb\r\n', 'CRLF'],
  ['a\rb', 'CR'],
  ['a\r\nb\n', 'mixed'],
  ['a', 'LF'],
] as const)('the lines of %j end in %s', (text, ends) => expect(lineEndsOf(text)).toBe(ends));

test.each(['a\nb', 'a\r\nb\r\n', 'a\rb\r', 'no line'])('through a text area and back: %j', (text) =>
  expect(withLineEnds(inTextArea(text), lineEndsOf(text))).toBe(text),
);

test('a text area only knows LF', () => expect(inTextArea('a\r\nb\rc\n')).toBe('a\nb\nc\n'));

const request = (parts: Partial<CapturedRequest>): CapturedRequest =>
  sampleRequest(3, { rawHeaders: [['X-A', 'b']], body: 'hi', contentType: 'text/plain', size: 2, ...parts });

test.each([
  ['patch', 'PATCH', 5],
  ['HEAD', 'HEAD', 6],
  ['QUERY', 'QUERY', 6],
  ['TRACE', 'GET', 5],
  ['', 'GET', 5],
])('method %j begins as %s, one of %i', (method, wanted, count) => {
  expect(defaultMethod({ method })).toBe(wanted);
  expect(methodsFor({ method })).toContain(wanted);
  expect(methodsFor({ method })).toHaveLength(count);
});

const stored = { of: { endpointUid: 'u', id: -1_000_003 }, size: 3 };

test('unchanged parts stay the same objects', () => {
  const form = defaultForm(request({}));
  expect(withChanges(form, {})).toEqual(form);
  expect(withChanges(form, { url: '' }).rows).toBe(form.rows);
  expect(withChanges(form, { url: '' }).url).toBe('');
});

test('an unchanged body is sent as a reference, without its bytes', () => {
  expect(toReplayBody(defaultForm(request({})), stored)).toEqual({
    method: 'POST',
    url: 'https://example.com/',
    headers: [
      { key: 'Content-Type', value: 'text/plain' },
      { key: 'X-Webhook-Source', value: 'Creel' },
      { key: 'X-A', value: 'b' },
    ],
    of: stored.of,
    sign: false,
    bodyFrom: stored.of,
  });
});

test('an edited body replaces the stored one', () => {
  const draft = { method: 'PUT', url: ' http://a.test/ ', rows: [], body: { text: 'a\nb', ends: 'CRLF' as const } };
  expect(toReplayBody(withChanges(defaultForm(request({})), draft), stored)).toEqual({
    method: 'PUT',
    url: 'http://a.test/',
    headers: [],
    of: stored.of,
    sign: false,
    body: 'a\r\nb',
    bodyEncoding: 'utf8',
  });
});

test('an emptied body is sent empty, and no stored body means none is sent', () => {
  expect(toReplayBody(withChanges(defaultForm(request({})), { body: { text: '', ends: 'LF' } }), stored)).toMatchObject(
    {
      body: '',
    },
  );
  const order = toReplayBody(defaultForm(request({ size: 0 })), { ...stored, size: 0 });
  expect([Object.hasOwn(order, 'body'), Object.hasOwn(order, 'bodyFrom')]).toEqual([false, false]);
});

test('a text changed back is not an edit; line endings come from the captured body', () => {
  expect(bodyEdit('a\nb', capturedText('a\r\nb'))).toBeUndefined();
  expect(bodyEdit('a\nc', capturedText('a\r\nb'))).toEqual({ text: 'a\nc', ends: 'CRLF' });
  expect(bodyEdit('', undefined)).toEqual({ text: '', ends: 'LF' });
});
