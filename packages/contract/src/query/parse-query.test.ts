import { describe, expect, test } from 'vitest';
import { parseQuery } from './parse-query.ts';
import { printQuery } from './print-query.ts';
import { unknownFieldsSentence } from './unknown-field.ts';
import type { Query } from './query.ts';

const text = (word: string): Query => ({ kind: 'text', text: word });
const and = (...parts: Query[]): Query => ({ kind: 'and', parts });
const or = (...parts: Query[]): Query => ({ kind: 'or', parts });
const not = (part: Query): Query => ({ kind: 'not', part });

test('each term has the position of its start, without a minus', () => {
  const written = '-a ("is:x" OR is:saved) status:5xx';
  const result = parseQuery(written);
  expect(result.ok && result.terms.map(({ term, position }) => [term.kind, position])).toEqual([
    ['text', 1],
    ['text', written.indexOf('"is:x"')],
    ['is', written.indexOf('is:saved')],
    ['status', written.indexOf('status')],
  ]);
});

function read(written: string): Query {
  const result = parseQuery(written);
  if (!result.ok) throw new Error(`${result.position}: ${result.sentence}`);
  return result.query;
}

const READ: [written: string, query: Query][] = [
  ['', and()],
  [' \t\n', and()],
  ['a', text('a')],
  ['a b', and(text('a'), text('b'))],
  ['a b OR c', or(and(text('a'), text('b')), text('c'))],
  ['a OR b OR c', or(text('a'), text('b'), text('c'))],
  ['a (b OR c)', and(text('a'), or(text('b'), text('c')))],
  ['(a b) c', and(text('a'), text('b'), text('c'))],
  ['((a))', text('a')],
  ['(a)(b)', and(text('a'), text('b'))],
  ['(a)b', and(text('a'), text('b'))],
  ['-a', not(text('a'))],
  ['-(a b)', not(and(text('a'), text('b')))],
  ['-(-a)', not(not(text('a')))],
  ['-"a b"', not(text('a b'))],
  ['-method:GET', not({ kind: 'method', methods: ['GET'] })],
  ['--x', text('--x')],
  ['--method:GET', text('--method:GET')],
  ['-', text('-')],
  ['a - b', and(text('a'), text('-'), text('b'))],
  ['(-)', text('-')],
  ['a-b', text('a-b')],
  ['AND NOT or', and(text('AND'), text('NOT'), text('or'))],
  ['ORDER', text('ORDER')],
  ['"OR"', text('OR')],
  ['-OR', not(text('OR'))],
  ['"a  b"', text('a  b')],
  [String.raw`"a\"b\\c\d"`, text(String.raw`a"b\c\d`)],
  ['"a"b', and(text('a'), text('b'))],
  ['say"hi"', text('say"hi"')],
  ['f(x)', text('f(x)')],
  ['(f(x))', text('f(x)')],
  ['f(g(x))y', text('f(g(x))y')],
  ['{"a":1}', text('{"a":1}')],
  ['http://x', text('http://x')],
  ['methd:POST', text('methd:POST')],
  ['foo:', text('foo:')],
  ['Method:POST', text('Method:POST')],
  ['json:a', text('json:a')],
  ['query.:a', text('query.:a')],
  ['a*b', text('a*b')],
  ['method:POST', { kind: 'method', methods: ['POST'] }],
  ['method:get,Post', { kind: 'method', methods: ['get', 'Post'] }],
  ['method:"GET,POST"', { kind: 'method', methods: ['GET,POST'] }],
  ['event:"a,b",c*', { kind: 'event', patterns: [['a,b'], ['c', '']] }],
  ['path:/stripe', { kind: 'path', pattern: ['/stripe'] }],
  ['path:/orders/*', { kind: 'path', pattern: ['/orders/', ''] }],
  ['path:"/a*"', { kind: 'path', pattern: ['/a*'] }],
  ['path:/a,b', { kind: 'path', pattern: ['/a,b'] }],
  ['path:a***b', { kind: 'path', pattern: ['a', 'b'] }],
  ['path:f(x)', { kind: 'path', pattern: ['f(x)'] }],
  ['(path:a)', { kind: 'path', pattern: ['a'] }],
  ['query.a:b', { kind: 'query', name: 'a', value: 'b' }],
  ['query.a.b[c]:*', { kind: 'query', name: 'a.b[c]', value: null }],
  ['query.a:b*', { kind: 'query', name: 'a', value: 'b*' }],
  ['query.a:"*"', { kind: 'query', name: 'a', value: '*' }],
  ['query."a: b":c', { kind: 'query', name: 'a: b', value: 'c' }],
  ['header.X-Id:"a b"', { kind: 'header', name: 'X-Id', value: 'a b' }],
  ['body:a:b', { kind: 'body', text: 'a:b' }],
  ['body:a"b', { kind: 'body', text: 'a"b' }],
  ['json.a.b:v', { kind: 'json', path: [{ key: 'a' }, { key: 'b' }], value: { operator: 'is', pattern: ['v'] } }],
  [
    'json.items.*.sku:A1',
    { kind: 'json', path: [{ key: 'items' }, 'any', { key: 'sku' }], value: { operator: 'is', pattern: ['A1'] } },
  ],
  [
    String.raw`json."a.b"."*"."\"":x*`,
    { kind: 'json', path: [{ key: 'a.b' }, { key: '*' }, { key: '"' }], value: { operator: 'is', pattern: ['x', ''] } },
  ],
  ['json.a:>1000', { kind: 'json', path: [{ key: 'a' }], value: { operator: '>', value: '1000' } }],
  ['json.a:<=-1.5e3', { kind: 'json', path: [{ key: 'a' }], value: { operator: '<=', value: '-1.5e3' } }],
  ['json.a:1..2', { kind: 'json', path: [{ key: 'a' }], value: { operator: '..', from: '1', to: '2' } }],
  ['json.a:x..y', { kind: 'json', path: [{ key: 'a' }], value: { operator: 'is', pattern: ['x..y'] } }],
  ['json.a:">1"', { kind: 'json', path: [{ key: 'a' }], value: { operator: 'is', pattern: ['>1'] } }],
  ['json.a:"1..2"', { kind: 'json', path: [{ key: 'a' }], value: { operator: 'is', pattern: ['1..2'] } }],
  ['source:Stripe,git*', { kind: 'source', patterns: [['Stripe'], ['git', '']] }],
  ['event:invoice.*', { kind: 'event', patterns: [['invoice.', '']] }],
  ['ip:203.0.113.7', { kind: 'ip', network: { bytes: [203, 0, 113, 7], prefix: 32 } }],
  ['ip:10.1.2.3/8', { kind: 'ip', network: { bytes: [10, 0, 0, 0], prefix: 8 } }],
  ['ip:::ffff:10.0.0.1', { kind: 'ip', network: { bytes: [10, 0, 0, 1], prefix: 32 } }],
  [
    'ip:2001:db8::/32',
    { kind: 'ip', network: { bytes: [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], prefix: 32 } },
  ],
  ['size:>10kb', { kind: 'size', value: { operator: '>', value: 10_240 } }],
  ['size:>=1.5KB', { kind: 'size', value: { operator: '>=', value: 1536 } }],
  ['size:1..2mb', { kind: 'size', value: { operator: '..', from: 1, to: 2_097_152 } }],
  ['size:0', { kind: 'size', value: { operator: '=', value: 0 } }],
  ['after:2026-11-22', { kind: 'after', moment: { at: Date.UTC(2026, 10, 22) } }],
  ['before:2026-11-22T10:00Z', { kind: 'before', moment: { at: Date.UTC(2026, 10, 22, 10) } }],
  ['before:2026-11-22T10:00', { kind: 'before', moment: { at: Date.UTC(2026, 10, 22, 10) } }],
  ['before:2026-11-22T10:00:05.1234+02:30', { kind: 'before', moment: { at: Date.UTC(2026, 10, 22, 7, 30, 5, 123) } }],
  ['before:"2026-11-22 10:00-0100"', { kind: 'before', moment: { at: Date.UTC(2026, 10, 22, 11) } }],
  ['after:2024-02-29', { kind: 'after', moment: { at: Date.UTC(2024, 1, 29) } }],
  ['after:-15m', { kind: 'after', moment: { ago: 15, unit: 'm' } }],
  ['after:-2w', { kind: 'after', moment: { ago: 2, unit: 'w' } }],
  ['is:Saved', { kind: 'is', state: 'saved' }],
  ['status:500,4XX', { kind: 'status', statuses: ['500', '4xx'] }],
];

test.each(READ)('%s is parsed, and is the same after printing', (written, query) => {
  expect(read(written)).toEqual(query);
  expect(read(printQuery(query))).toEqual(query);
});

const NUMBERS = 'a number after >, >=, < or <=';
const MISTAKES: [written: string, position: number, expected: string][] = [
  ['"a', 0, 'a closing quote'],
  ['x "a', 2, 'a closing quote'],
  ['x path:"a', 2, 'a closing quote'],
  ['x (a', 2, 'a closing parenthesis'],
  ['((a)', 0, 'a closing parenthesis'],
  ['a(b', 0, 'a closing parenthesis'],
  ['x path:a(b', 2, 'a closing parenthesis'],
  ['a )', 2, 'an opening parenthesis'],
  ['a)', 1, 'an opening parenthesis'],
  ['(a))', 3, 'an opening parenthesis'],
  ['a ()', 2, 'a term in the parentheses'],
  ['( )', 0, 'a term in the parentheses'],
  ['a ""', 2, 'a text between the quotes'],
  ['a method:""', 2, 'a text between the quotes'],
  ['OR a', 0, 'a term before OR'],
  ['a OR', 2, 'a term after OR'],
  ['a OR OR b', 5, 'a term before OR'],
  ['(a OR )', 3, 'a term after OR'],
  ['(OR a)', 1, 'a term before OR'],
  ['OR', 0, 'a term before OR'],
  ['a method:', 2, 'a method'],
  ['method: GET', 0, 'a method'],
  ['(method:)', 1, 'a method'],
  ['a -method:', 3, 'a method'],
  ['method:GET,', 0, 'a method'],
  ['method:,GET', 0, 'a method'],
  ['query.a:', 0, 'a text'],
  ['json.a:', 0, NUMBERS],
  ['json.a:>', 0, NUMBERS],
  ['json.a:>x', 0, NUMBERS],
  ['json.a:>01', 0, NUMBERS],
  ['json.a:<=1e', 0, NUMBERS],
  ['size:x', 0, 'a size'],
  ['size:-1', 0, 'a size'],
  ['size:1gb', 0, 'a size'],
  ['size:1..', 0, 'a size'],
  ['size:1..x', 0, 'a size'],
  ['size:">1"', 0, 'a size'],
  ['a after:2026-13-01', 2, 'a date'],
  ['after:2026-02-30', 0, 'a date'],
  ['after:2026-11-22T25:00', 0, 'a date'],
  ['after:2026-11-22T10:00+24:00', 0, 'a date'],
  ['after:15m', 0, 'a date'],
  ['after:-15y', 0, 'a date'],
  ['before:tomorrow', 0, 'a date'],
  ['ip:1.2.3', 0, 'an address'],
  ['ip:1.2.3.256', 0, 'an address'],
  ['ip:01.2.3.4', 0, 'an address'],
  ['ip:10.0.0.0/33', 0, 'an address'],
  ['ip::::', 0, 'an address'],
  ['ip:1:2:3:4:5:6:7:8:9', 0, 'an address'],
  ['ip:10.0.0.1,10.0.0.2', 0, 'an address'],
  ['is:lost', 0, 'one of saved, unsaved, delivered, failed, pending'],
  ['is:saved,unsaved', 0, 'one of'],
  ['status:20', 0, 'a status'],
  ['status:5x', 0, 'a status'],
  ['status:200,x', 0, 'a status'],
  ['status:failed', 0, 'a status such as 500 or 5xx, or is:delivered, is:failed or is:pending'],
  ['x'.repeat(2001), 0, 'at most 2000 characters'],
  [`${'x '.repeat(1000)}y`, 2000, 'at most 2000 characters'],
  [`${'x '.repeat(100)}y`, 200, 'at most 100 terms'],
  ['('.repeat(51) + 'x' + ')'.repeat(51), 50, 'at most 50 nested parentheses'],
  ['🦀 (', 3, 'a closing parenthesis'],
];

test.each(MISTAKES)('%s is rejected at %i: %s', (written, position, expected) => {
  const result = parseQuery(written);
  expect(result).toMatchObject({ ok: false, position });
  expect(result).toHaveProperty('sentence', expect.stringContaining(`Expected ${expected}`));
});

describe('limits', () => {
  test.each([
    ['2,000 characters', 'x'.repeat(2000)],
    ['100 terms', 'x '.repeat(100)],
    ['50 nested parentheses', '('.repeat(50) + 'x' + ')'.repeat(50)],
    ['2,000 wildcards', `path:${'*'.repeat(1995)}`],
    ['wildcards between letters', `path:${'*a'.repeat(990)}`],
    ['a path of wildcards', `json${'.*'.repeat(990)}:1`],
    ['backslashes in quotes', `"${'\\'.repeat(1998)}"`],
    ['backslashes in a key', `json."${'\\'.repeat(1900)}":x`],
  ])('%s are read', (_, written) => expect(parseQuery(written)).toMatchObject({ ok: true }));

  test('backslashes before an unclosed quote take little time', () => {
    expect(parseQuery(`json."${'\\'.repeat(1901)}":x`)).toMatchObject({ ok: true, query: { kind: 'text' } });
    expect(parseQuery(`"${'\\"'.repeat(900)}`)).toMatchObject({ ok: false, position: 0 });
  });
});

test('words with an unknown field are reported with their position', () => {
  expect(parseQuery('a methd:POST (http://x) 12:30 --x:y "q:r" {"a":1}')).toMatchObject({
    unknownFields: [
      { name: 'methd', position: 2, suggestion: 'method' },
      { name: 'http', position: 14, suggestion: undefined },
    ],
  });
});

describe('an unknown field', () => {
  test.each([
    ['Method', 'method'],
    ['evnet', 'event'],
    ['statuss', 'status'],
    ['pth', undefined],
    ['id', undefined],
    ['constructor', undefined],
    ['type', 'event'],
    ['headers', 'header.name'],
    ['headers.x-shop', 'header.x-shop'],
    ['data.object.amount', 'json.data.object.amount'],
  ])('%s suggests %s', (written, suggestion) =>
    expect(parseQuery(`${written}:1`)).toMatchObject({ unknownFields: [{ name: written, suggestion }] }),
  );

  test.each([
    ['is:saved', undefined],
    ['http://x', 'http: is not a field, so it is searched as text.'],
    ['example.com:8080', 'example.com: is not a field, so it is searched as text.'],
    ['api.acme.io:443/x', 'api.acme.io: is not a field, so it is searched as text.'],
    ['acme.io:on', 'acme.io: is not a field, so it is searched as text. Did you mean json.acme.io:?'],
    ['type:a', 'type: is not a field, so it is searched as text. Did you mean event:?'],
    [
      'a.b:1 http://x Type:a',
      'a.b:, http:, Type: are not fields, so they are searched as text. Did you mean json.a.b:, event:?',
    ],
  ])('of %s is explained', (written, sentence) => {
    const parsed = parseQuery(written);
    expect(parsed.ok && unknownFieldsSentence(parsed.unknownFields)).toBe(sentence);
  });
});
