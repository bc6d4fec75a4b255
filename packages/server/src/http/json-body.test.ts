import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bytesOf, parseBody } from './json-body.ts';

const MIB = 1024 * 1024;

/** The JSON of a replay. `escaped`: its body as the content of a JSON string. */
const replayOf = (escaped: string): Buffer =>
  Buffer.from(`{ "method":"POST", "body" : "${escaped}", "headers":[{"key":"a","value":"b"}]}`);

const escape = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Only ASCII, as Python's `json.dumps` writes it. */
const escapeInAscii = (text: string): string =>
  escape(text).replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

test.each([
  ['plain text', 'ab'],
  ['escapes of two characters', '"\\\n'],
  ['control characters', '\u0001'],
  ['characters of several bytes', '\uFEFFé漢😀'],
  ['halves of characters', '\ud83d\ud83d\ude00\ude00'],
])('a large body stays bytes: %s', async (_name, unit) => {
  for (const escaped of [escape(unit), escapeInAscii(unit)]) {
    const count = Math.ceil((1.5 * MIB) / Buffer.byteLength(escaped));
    // Each offset moves the ends of the pieces to other characters.
    for (let offset = 0; offset < 13; offset += 1) {
      const before = 'x'.repeat(offset);
      const { value, longText } = await parseBody(replayOf(before + escaped.repeat(count)));
      expect(value).toEqual({ method: 'POST', body: '', headers: [{ key: 'a', value: 'b' }] });
      expect(longText?.equals(Buffer.from(before + unit.repeat(count)))).toBe(true);
    }
  }
});

test('a large body is read in pieces', async () => {
  let isDone = false;
  const parsed = parseBody(replayOf('a'.repeat(4 * MIB))).finally(() => (isDone = true));
  let turns = 0;
  for (; !isDone; turns += 1) await nextTurn();
  expect((await parsed).longText).toHaveLength(4 * MIB);
  expect(turns).toBeGreaterThan(20);
});

test('a large base64 is decoded, or rejected', async () => {
  const bytes = Buffer.alloc(2 * MIB, '\x00\xff\x7f');
  const decode = async (text: string) => bytesOf('', (await parseBody(replayOf(text))).longText, 'base64');
  const base64 = bytes.toString('base64');
  expect((await decode(base64)).equals(bytes)).toBe(true);
  expect((await decode(base64.replace(/=*$/, ''))).equals(bytes)).toBe(true);
  for (const wrong of [`${base64}A`, `-${base64.slice(1)}`, `é${base64.slice(1)}`, `==${base64}`, `${base64}${base64}`])
    await expect(decode(wrong)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  const atPieceEnd = `${'A'.repeat(256 * 1024 - 1)}=${'A'.repeat(MIB)}`;
  await expect(decode(atPieceEnd)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
});

const long = `"${'a'.repeat(2 * MIB)}"`;

test.each([
  ['another member', `{"headers":{"a":${long}}}`],
  ['a member of a member', `{"of":{"body":${long}}}`],
  ['a body that is replaced', `{"body":${long},"body":"b"}`],
  ['no member', `["body",${long}]`],
])('only a body is large: %s', async (_name, json) => {
  await expect(parseBody(Buffer.from(json))).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
});

test.each(['\\x', '\\u12', '\n', '\\ud83d\\u'])('a large body that ends with %j is malformed', async (wrong) => {
  const json = Buffer.from(`{"body":"${'a'.repeat(2 * MIB)}${wrong}"}`);
  await expect(parseBody(json)).rejects.toMatchObject({ code: 'MALFORMED_JSON' });
});

test('a large body that is not UTF-8 is malformed', async () => {
  const json = Buffer.from(`{"body":"${'漢'.repeat(MIB)}"}`);
  json[json.length - 3] = 0x41;
  await expect(parseBody(json)).rejects.toMatchObject({ code: 'MALFORMED_JSON' });
});
