import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { endpointChangeSchema, endpointCreateSchema } from './endpoint.ts';
import { OPERATIONS } from './operations.ts';
import type { Operation } from './operations/operation.ts';
import { replaySchema } from './replay.ts';
import {
  emailSchema,
  userSettingsChangeSchema,
  userSettingsInputSchema,
  credentialsSchema,
  passwordChangeSchema,
  registrationSchema,
  usernameSchema,
} from './user.ts';

/** The errors by field. Empty for valid input. */
function mistakes(schema: z.ZodType, value: unknown): Record<string, string> {
  const parsed = schema.safeParse(value);
  return Object.fromEntries((parsed.error?.issues ?? []).map((issue) => [issue.path.join('.'), issue.message]));
}

const NAME_SHORT = 'Username must be at least 3 characters';
const INVISIBLE = 'Username must not contain invisible characters';
const SPACES = 'Username must not contain two spaces in a row or unusual spaces';
const PASSWORD_SHORT = 'Password must be at least 6 characters';
const EMAIL = 'Please enter a valid email address';

describe('login and registration', () => {
  test.each([
    [{ username: 'abc', password: '123456' }, {}],
    [{ username: 'ab', password: '123456' }, { username: NAME_SHORT }],
    [{ username: ' ab ', password: '123456' }, { username: NAME_SHORT }],
    [{ username: 'abc', password: '12345' }, { password: PASSWORD_SHORT }],
    [
      { username: 'a', password: '1' },
      { username: NAME_SHORT, password: PASSWORD_SHORT },
    ],
    [{}, { username: NAME_SHORT, password: PASSWORD_SHORT }],
    [
      { username: 7, password: null },
      { username: NAME_SHORT, password: PASSWORD_SHORT },
    ],
    [{ username: 'a'.repeat(40), password: '123456' }, {}],
    [{ username: 'a'.repeat(41), password: '123456' }, { username: 'Username must be at most 40 characters' }],
    [{ username: 'a\u0000bc', password: '123456' }, { username: 'Username must not contain control characters' }],
    [{ username: 'a\u202Ebc', password: '123456' }, { username: 'Username must not contain control characters' }],
    [{ username: '\u3164\u3164\u3164', password: '123456' }, { username: INVISIBLE }],
    [{ username: '\u2800\u2800\u2800', password: '123456' }, { username: INVISIBLE }],
    [{ username: 'admin\uFE0F', password: '123456' }, { username: INVISIBLE }],
    [{ username: 'admin\u034F', password: '123456' }, { username: INVISIBLE }],
    [{ username: 'admin\u3164', password: '123456' }, { username: INVISIBLE }],
    [{ username: 'admin\uD83E', password: '123456' }, { username: INVISIBLE }],
    [{ username: '\uDD80admin', password: '123456' }, { username: INVISIBLE }],
    [{ username: 'Admin  King', password: '123456' }, { username: SPACES }],
    [{ username: 'Admin\u00A0King', password: '123456' }, { username: SPACES }],
    [{ username: 'Admin\u3000King', password: '123456' }, { username: SPACES }],
    [{ username: 'Zoë 🦀 김', password: '123456' }, {}],
    [{ username: 'abc', password: '      ' }, {}],
    [{ username: 'abc', password: 'x'.repeat(1025) }, { password: 'Password must be at most 1024 characters' }],
  ])('%j: %j', (input, wrong) => {
    expect(mistakes(registrationSchema, { email: 'a@b.test', ...input })).toEqual(wrong);
  });

  test.each([
    [
      { username: 'ab', password: '12345' },
      { username: NAME_SHORT, password: PASSWORD_SHORT },
    ],
    [{}, { username: NAME_SHORT, password: PASSWORD_SHORT }],
    [{ username: 'a'.repeat(41), password: 'x'.repeat(1025) }, {}],
    [{ username: 'a\u0000bc', password: '\uD83E12345' }, {}],
  ])('at a login, %j: %j', (input, wrong) => {
    expect(mistakes(credentialsSchema, input)).toEqual(wrong);
  });

  test('names are trimmed, passwords are not', () => {
    expect(credentialsSchema.parse({ username: ' Ann ', password: ' secret ' })).toEqual({
      username: 'Ann',
      password: ' secret ',
    });
    expect(usernameSchema.parse('  Zoë  ')).toBe('Zoë');
  });

  test.each([
    '',
    'x',
    'x@',
    '@x.de',
    'a b@c.de',
    'a@b',
    'a@b.c d',
    'a@b..de',
    'a\n@b.de',
    `${'a'.repeat(250)}@b.de`,
    undefined,
    7,
  ])('registration rejects the email %j', (email) => {
    expect(mistakes(registrationSchema, { username: 'abc', password: '123456', email })).toEqual({ email: EMAIL });
  });

  test.each(['a@b.de', ' a@b.de ', 'first.last+tag@sub.example.com', "o'neil@example.ie"])(
    '%s is an email',
    (email) => {
      expect(emailSchema.parse(email)).toBe(email.trim());
    },
  );
});

describe('no error message comes from zod', () => {
  const WRONG = [undefined, null, 5, -1, 1.5, 1e300, '', '\0', 'x'.repeat(100_000), true, [], {}, [5], [{}]].concat([
    [{ key: 5, value: 'x' }],
    { a: 5 },
    [['a', 5]],
    { endpointUid: 5, id: 'x' },
  ]);
  const ZOD = /^(?:Invalid|Too|Expected|Unrecognized)/;
  const namesSchema = z.object({ properties: z.record(z.string(), z.unknown()).default({}) });
  const calls = Object.entries<Operation>(OPERATIONS).flatMap(([name, { body, query }]) =>
    [body, query].flatMap((schema) => (schema === undefined ? [] : [{ name, schema }])),
  );

  test.each(calls)('$name', ({ schema }) => {
    const { properties } = namesSchema.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
    expect(properties).not.toEqual({});
    for (const field of Object.keys(properties))
      for (const value of WRONG)
        for (const [at, sentence] of Object.entries(mistakes(schema, { [field]: value })))
          expect(sentence, `${at}: ${JSON.stringify(value)?.slice(0, 40)}`).not.toMatch(ZOD);
  });

  const LINK = 'This link is not complete. Please open it again from the email, or ask for a new one.';
  test.each([
    [OPERATIONS.deleteAccount.body, { password: 5 }, { password: 'Please enter your password' }],
    [
      OPERATIONS.deleteAccount.body,
      { password: 'x'.repeat(1025) },
      { password: 'Password must be at most 1024 characters' },
    ],
    [OPERATIONS.resetPassword.body, { token: '', password: '123456' }, { token: LINK }],
    [OPERATIONS.verifyEmail.body, {}, { token: LINK }],
    [OPERATIONS.verifyEmail.body, { token: 'x'.repeat(201) }, { token: LINK }],
    [
      OPERATIONS.googleLogin.body,
      { email: 5, displayName: 5, uid: 5 },
      { email: 'email must be a text', displayName: 'displayName must be a text', uid: 'uid must be a text' },
    ],
  ])('%#', (schema, input, wrong) => {
    expect(mistakes(schema, input)).toEqual(wrong);
  });
});

describe('password change', () => {
  const REQUIRED = 'All password fields are required';
  test.each([
    [{ currentPassword: 'old one', newPassword: 'new one', confirmPassword: 'new one' }, {}],
    [{ currentPassword: '', newPassword: 'new one', confirmPassword: 'new one' }, { currentPassword: REQUIRED }],
    [{ currentPassword: 'old one', newPassword: '', confirmPassword: '' }, { newPassword: REQUIRED }],
    [{ currentPassword: 'old one', newPassword: 'new one', confirmPassword: '' }, { confirmPassword: REQUIRED }],
    [
      { currentPassword: 'old one', newPassword: 'new one', confirmPassword: 'new two' },
      { confirmPassword: 'New passwords do not match' },
    ],
    [
      { currentPassword: 'old one', newPassword: 'short', confirmPassword: 'short' },
      { newPassword: 'New password must be at least 6 characters long' },
    ],
    [
      { currentPassword: 'old one', newPassword: 'short', confirmPassword: 'shor' },
      { confirmPassword: 'New passwords do not match' },
    ],
    [
      { currentPassword: 'old one', newPassword: '🦀🦀🦀', confirmPassword: '🦀🦀🦀' },
      { newPassword: 'New password must be at least 6 characters long' },
    ],
    [{}, { currentPassword: REQUIRED, newPassword: REQUIRED, confirmPassword: REQUIRED }],
  ])('%j: %j', (input, wrong) => {
    expect(mistakes(passwordChangeSchema, input)).toEqual(wrong);
  });
});

describe('settings', () => {
  const off = { autoSaveNewEndpoints: false, emailNotifyExpiry: false, emailNotifySubscription: false };
  test.each([
    [{ ...off, email: '' }, {}],
    [{ ...off }, { email: EMAIL }],
    [{ ...off, emailNotifyExpiry: true, email: '' }, { email: EMAIL }],
    [{ ...off, emailNotifySubscription: true, email: '  ' }, { email: EMAIL }],
    [{ ...off, emailNotifyExpiry: true, email: 'a@b.de' }, {}],
    [{ ...off, email: 'nonsense' }, { email: EMAIL }],
    [{ ...off, email: null }, { email: EMAIL }],
    [
      { ...off, email: '', autoSaveNewEndpoints: 'true' },
      { autoSaveNewEndpoints: 'autoSaveNewEndpoints must be true or false' },
    ],
    [
      { autoSaveNewEndpoints: true },
      {
        email: EMAIL,
        emailNotifyExpiry: 'emailNotifyExpiry must be true or false',
        emailNotifySubscription: 'emailNotifySubscription must be true or false',
      },
    ],
  ])('%j: %j', (input, wrong) => {
    expect(mistakes(userSettingsInputSchema, input)).toEqual(wrong);
  });

  test('a change has any of the fields', () => {
    expect(mistakes(userSettingsChangeSchema, {})).toEqual({});
    expect(mistakes(userSettingsChangeSchema, { autoSaveNewEndpoints: 1, email: null })).toEqual({
      autoSaveNewEndpoints: 'autoSaveNewEndpoints must be true or false',
      email: EMAIL,
    });
  });
});

describe('the report of an attempt', () => {
  const report = {
    url: 'http://localhost:3000/',
    method: 'POST',
    attempt: 1,
    status: 200,
    durationMs: 1,
    at: '2026-11-22T10:00:00.000Z',
  };
  test.each([
    [{}, {}],
    [{ at: '2026-11-22T10:00:00Z' }, {}],
    [{ statusText: 'a\0', error: '\0' }, {}],
    [{ statusText: null, error: null, responseBody: null }, {}],
    [{ url: 'http://x/\0' }, { url: 'Please enter a valid URL' }],
    [{ method: 'TRACE' }, {}],
    [{ method: 'A B' }, { method: 'The method must be the name of a method that carries a request.' }],
    [{ status: 1000 }, { status: 'status must be a number from 100 to 999, or null' }],
    [{ durationMs: 1e300 }, { durationMs: 'durationMs must be a number of milliseconds' }],
    [{ durationMs: Number.MAX_SAFE_INTEGER }, {}],
    [{ responseTruncated: 1 }, { responseTruncated: 'responseTruncated must be true or false' }],
    [{ responseBody: '/w==', responseBodyEncoding: 'base64' }, {}],
    [{ responseBody: '###', responseBodyEncoding: 'base64' }, { responseBody: 'responseBody is not valid base64' }],
  ])('%j: %j', (changes, wrong) => {
    expect(mistakes(OPERATIONS.reportDelivery.body, { ...report, ...changes })).toEqual(wrong);
  });

  test('has at most 64 KiB of response headers, like a response that the server reads', () => {
    const full = Array.from({ length: 64 }, () => ({ key: 'k'.repeat(24), value: 'v'.repeat(1000) }));
    const mistakesOf = (responseHeaders: object[]): object =>
      mistakes(OPERATIONS.reportDelivery.body, { ...report, responseHeaders });
    expect(mistakesOf(full)).toEqual({});
    expect(mistakesOf([...full, { key: 'k', value: '' }])).toEqual({
      responseHeaders: 'responseHeaders must be a list of at most 1000 { key, value }, with 64 KiB at most',
    });
  });
});

describe('replay', () => {
  const URL_SENTENCE = 'Please enter a valid URL';
  test.each([
    '',
    'x',
    'example.com',
    '/path',
    'ftp://example.com',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http://',
    'http:// x',
    'http://example.com/a\0b',
    undefined,
    7,
  ])('the url %j is none', (url) => {
    expect(mistakes(replaySchema, { method: 'GET', url })).toEqual({ url: URL_SENTENCE });
  });

  test.each([
    'http://example.com',
    'https://example.com:8443/a?b#c',
    'HTTP://EXAMPLE.com',
    'http://127.0.0.1',
    'http://[::1]:80/',
  ])('%s is one', (url) => {
    expect(mistakes(replaySchema, { method: 'GET', url })).toEqual({});
  });

  test('headers are a list or a map, and optional', () => {
    const base = { method: 'POST', url: 'http://h' };
    for (const headers of [undefined, [], [{ key: 'a', value: 'b' }], { a: 'b' }])
      expect(mistakes(replaySchema, { ...base, headers })).toEqual({});
    expect(Object.keys(mistakes(replaySchema, { ...base, headers: 'a: b' }))).toEqual(['headers']);
  });
});

describe('endpoints', () => {
  test.each([
    [{}, {}],
    [
      { name: 'Orders', source: 'shop', autoSaveEnabled: true },
      { name: 'Orders', source: 'shop', autoSaveEnabled: true },
    ],
    [{ name: '  Orders ' }, { name: 'Orders' }],
    [
      { name: '   ', source: '' },
      { name: null, source: null },
    ],
    [{ autoSaveEnabled: 'true' }, { autoSaveEnabled: true }],
    [{ name: 'n'.repeat(100) }, { name: 'n'.repeat(100) }],
  ])('%j is taken as %j', (input, taken) => {
    expect(endpointCreateSchema.parse(input)).toEqual(taken);
  });

  test('flags are booleans or their text', () => {
    expect(endpointChangeSchema.parse({ isFavorite: 'true', autosave: false })).toEqual({
      isFavorite: true,
      autosave: false,
    });
    expect(mistakes(endpointChangeSchema, { isFavorite: 'yes', autosave: 1 })).toEqual({
      isFavorite: 'Favorite must be true or false',
      autosave: 'Autosave must be true or false',
    });
  });

  test('names and sources have at most 100 characters', () => {
    expect(mistakes(endpointCreateSchema, { name: 'n'.repeat(101), source: 's'.repeat(101) })).toEqual({
      name: 'Name must be at most 100 characters',
      source: 'Source must be at most 100 characters',
    });
  });
});

describe('paging and search', () => {
  const { query } = OPERATIONS.listSaved;
  test.each([
    [{}, 100],
    [{ limit: '1' }, 1],
    [{ limit: '500' }, 500],
    [{ limit: '501' }, 500],
    [{ limit: '999999999' }, 500],
    [{ limit: '1000000000' }, 500],
    [{ limit: '9'.repeat(100) }, 500],
  ])('%j: a page of %d', (input, limit) => {
    expect(query.parse(input).limit).toBe(limit);
  });

  test.each(['0', '-1', '1.5', 'x', '', ' 1', '1e3', '0x10', '9'.repeat(101), ['1', '2']])(
    'limit=%s is nonsense',
    (limit) => {
      expect(Object.keys(mistakes(query, { limit }))).toEqual(['limit']);
    },
  );

  test.each(['-1', 'x', '', '1.0', '1'.repeat(101), ['1', '2']])('before=%s is invalid', (before) => {
    expect(mistakes(query, { before })).toEqual({ before: 'before must be the index of a request' });
  });

  test('`before` above every index returns the first page', () => {
    expect(query.parse({ before: '1'.repeat(30) }).before).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('a method may be written in lower case', () => {
    expect(query.parse({ method: 'm-search' }).method).toBe('M-SEARCH');
  });

  test('a repeated parameter has its own error message', () => {
    expect(mistakes(query, { limit: ['1', '2'], method: ['GET', 'POST'] })).toEqual({
      limit: 'limit must be a whole number from 1 up',
      method: 'method must be the name of a method',
    });
  });

  test.each([{}, { q: '' }, { q: '   ' }])('%j: an empty search is invalid', (input) => {
    expect(mistakes(OPERATIONS.search.query, input)).toMatchObject({ q: 'Please enter something to search for' });
  });

  test('a repeated search text has its own error message', () => {
    expect(mistakes(OPERATIONS.search.query, { q: ['a', 'b'] })).toMatchObject({ q: 'q must occur once' });
  });

  test('the search text is not trimmed', () => {
    expect(OPERATIONS.search.query.parse({ q: ' a ' }).q).toBe(' a ');
  });

  test.each([0, 7, -1, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e20, -1e20])(
    'save-request takes the whole number %d',
    (index) => {
      expect(mistakes(OPERATIONS.saveRequest.body, { index })).toEqual({});
    },
  );

  test.each([1.5, '1', null, undefined])('save-request rejects index %j', (index) => {
    expect(mistakes(OPERATIONS.saveRequest.body, { index })).toEqual({ index: 'index must be a whole number' });
  });
});
