import { expect, test } from 'vitest';
import { makeDice } from '../../../../fixtures/dice.ts';
import { matcherOf, steppedMatcherOf } from './matches.ts';
import { parseQuery } from './parse-query.ts';
import { RequestView } from './request-view.ts';
import type { SearchableRequest } from './searchable-request.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
type Sample = Parameters<typeof sampleSearchable>[0];

/** A request for tests: by default an empty POST to `/`. A body that is text is encoded as UTF-8. */
function sampleSearchable(
  change: Partial<Omit<SearchableRequest, 'body'>> & { readonly body?: string | Uint8Array | null } = {},
): SearchableRequest {
  const { body = null, ...rest } = change;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return {
    method: 'POST',
    target: '',
    rawHeaders: [],
    size: bytes?.length ?? 0,
    source: () => 'Unknown',
    eventType: () => null,
    sourceIp: '192.0.2.1',
    receivedAt: Date.UTC(2026, 10, 22, 10),
    saved: false,
    ...rest,
    body: () => bytes,
  };
}

function finds(written: string, sample: Sample): boolean {
  const result = parseQuery(written);
  if (!result.ok) throw new Error(`${written}: ${result.sentence}`);
  return matcherOf(result.query, NOW)(sampleSearchable(sample));
}

const wire = (text: string): string => Buffer.from(text).toString('latin1');
const TARGET = `/Orders/caf%C3%A9%20one/f(x)?Name=J%C3%BCrgen+K&q=a&q=B%26c&empty=&%zz=1&raw=${wire('ü')}&gr%C3%B6%C3%9Fe=5`;
const JSON_BODY = String.raw`{"a":{"b":"Va\"lue\n"},"amount":1000,"amount":7,"s":"1000","one":1.0,"e":1E400,
  "big":12345678901234567890,"items":[{"sku":"A1"},{"sku":"b2","n":[0,-1.5]}],"a.b":{"c":true},"*":null,"\u006bey":"x","0":"zero"}`;

const CASES: [what: string, sample: Sample, hits: string[], misses: string[]][] = [
  [
    'texts and their combination',
    { method: 'PATCH', target: TARGET, rawHeaders: [['X-Id', 'Evt_1']], body: 'Größe one' },
    [
      'patch evt_1',
      'ATC',
      'größe',
      'nothing OR one',
      'nothing OR nowhere OR x-id',
      '-nothing',
      '-(nothing one)',
      '-(-one)',
      '(nothing OR one) evt_1',
      'nothing patch OR one',
      'orders/CAFé',
      '"café one"',
      'caf%c3%a9',
      'jürgen',
      '"jürgen k"',
      'f(x)?name',
      'ü',
      '',
    ],
    ['GRÖSSE', 'nothing', '-one', 'one nothing', '-(nothing OR one)', 'idevt', '"one evt"', 'patch nothing OR no'],
  ],
  [
    'methods',
    { method: 'POST' },
    ['method:POST', 'method:post', 'method:GET,POST'],
    ['method:POS', 'method:GET', 'method:P*'],
  ],
  [
    'paths',
    { target: TARGET },
    [
      'path:/orders',
      'path:"/café one"',
      'path:/orders/*',
      'path:*F(X)',
      'path:*',
      'path:/o*é*/f(x)',
      'path:caf%C3%A9%20*x* OR path:*%C3%A9*',
    ],
    [
      'path:name',
      'path:orders/*',
      '-path:/orders',
      'path:"/orders/*"',
      'path:/orders*xx',
      'path:/orders/caf%C3%A9%20one/f*%20one/f(x)',
      'path:/orders/*one/f*f(x)',
    ],
  ],
  ['the path of an empty target', { target: '?a=1' }, ['path:/', 'path:/*', '"/?a"'], ['path:a', 'path:/?*']],
  [
    'parameters',
    { target: TARGET },
    [
      'query.Name:jürgen',
      'query.Name:"N k"',
      'query.q:b&C',
      'query.q:a',
      'query.empty:*',
      'query.%zz:1',
      'query.raw:ü',
      'query.größe:5',
    ],
    ['query.name:jürgen', 'query.q:aB', 'query.none:*', 'query.q:"*"', '-query.q:*'],
  ],
  [
    'headers',
    {
      rawHeaders: [
        ['X-Id', 'One'],
        ['x-id', 'Two'],
        ['X-Utf', wire('naïve')],
        ['X-Latin', 'caf\xe9'],
      ],
    },
    ['header.X-ID:one', 'header.x-id:TWO', 'header.x-id:*', 'header.x-utf:naïve', 'header.x-latin:café'],
    ['header.x-id:"one, two"', 'header.x:*', 'header.x-id:three', 'one,two'],
  ],
  [
    'bodies',
    { body: 'Some * Text, >1' },
    ['body:"e * t"', 'body:*', 'body:text,', 'body:>1'],
    ['body:sometext', 'body:post'],
  ],
  [
    'bodies that are not UTF-8',
    { body: Uint8Array.from([0x41, 0xff, ...Buffer.from('bé'), 0xfe, 0x43]) },
    ['body:a', 'body:Bé', 'c'],
    ['body:ab', 'body:ÿ', 'body:�', 'body:Ã', 'json.a:*'],
  ],
  ['no body', {}, ['-body:a'], ['body:a', 'json.a:*']],
  [
    'JSON',
    { body: JSON_BODY },
    [
      String.raw`json.a.b:"va\"lue` + '\n"',
      'json.a.b:va*',
      'json.*.b:*lue*',
      'json.amount:1000',
      'json.amount:7',
      'json.amount:>999',
      'json.amount:<8',
      'json.amount:6.5..7',
      'json.s:1000',
      'json.one:1',
      'json.one:1.00e0',
      'json.one:1.0',
      'json.e:1e400',
      'json.e:>1e399',
      'json.e:<1e401',
      'json.big:12345678901234567890',
      'json.big:>12345678901234567889',
      'json.big:<12345678901234567891',
      'json.items.*.sku:a1',
      'json.items.1.n.1:-1.50',
      'json.items.1.*.*:<0',
      'json.items:*b2*',
      'json."a.b".c:TRUE',
      'json."*":null',
      'json.key:x',
      'json.0:zero',
      'json.a:*',
    ],
    [
      'json.A.b:va*',
      'json.a.b:va',
      'json.amount:8..999',
      'json.s:>1',
      'json.s:1000.0',
      'json.big:12345678901234567891',
      'json.items.2.sku:*',
      'json.items.01.sku:*',
      'json.sku:A1',
      'json.a.b.c:*',
      'json.a.b.c:c',
      'json."a.*":*',
    ],
  ],
  ['JSON at the top', { body: ' [10, "x"]' }, ['json.0:10', 'json.1:X', 'json.*:10'], ['json.2:*']],
  ['a key with an escape', { body: String.raw`{"\u0061":1}` }, ['json.a:1'], [String.raw`json."\\u0061":1`]],
  ['JSON with a byte order mark', { body: '\uFEFF{"a":1}' }, ['json.a:1', 'body:"\uFEFF{"'], ['json.a:"\uFEFF1"']],
  ...['{"a":1', '{"a":1}x', '{"a":01}', "{'a':1}", '{"a":1,}', '{"a":"\u0001"}', '[{"a":1}', 'a=1'].map(
    (body): [string, Sample, string[], string[]] => [
      `${body}, which is not JSON`,
      { body },
      [],
      ['json.a:*', 'json.*.a:*', 'json.*:*'],
    ],
  ),
  [
    'labels',
    { source: () => 'Amazon SNS', eventType: () => 'invoice.paid' },
    ['source:"amazon sns"', 'source:amazon*', 'source:Stripe,*sns', 'event:invoice.paid', 'event:Invoice.*', 'event:*'],
    ['source:amazon', 'event:invoice', 'event:"invoice.*"'],
  ],
  ['no event type', {}, ['source:unknown', '-event:*'], ['event:*']],
  [
    'addresses',
    { sourceIp: '10.1.2.3' },
    ['ip:10.1.2.3', 'ip:10.0.0.0/8', 'ip:0.0.0.0/0', 'ip:::ffff:10.1.2.3', 'ip:10.1.2.2/31'],
    ['ip:10.1.2.4', 'ip:11.0.0.0/8', 'ip:::/0', 'ip:10.1.2.4/31'],
  ],
  ['mapped addresses', { sourceIp: '::ffff:10.1.2.3' }, ['ip:10.0.0.0/8'], ['ip:::/0']],
  [
    'addresses of IPv6',
    { sourceIp: '2001:DB8::1' },
    ['ip:2001:db8:0:0:0:0:0:1', 'ip:2001:db8::/33', 'ip:::/0'],
    ['ip:2001:db9::/32', 'ip:0.0.0.0/0', 'ip:2001:db8:8000::/33'],
  ],
  ['no address', { sourceIp: '' }, [], ['ip:0.0.0.0/0', 'ip:::/0']],
  [
    'sizes',
    { size: 10_240 },
    ['size:10kb', 'size:10240', 'size:>=10kb', 'size:<=10kb', 'size:9kb..10kb', 'size:>9.9kb', 'size:<1mb'],
    ['size:>10kb', 'size:<10kb', 'size:11kb..12kb', 'size:10'],
  ],
  [
    'times',
    { receivedAt: Date.UTC(2026, 10, 22, 10) },
    [
      'after:2026-11-22',
      'after:2026-11-22T10:00',
      'after:2026-11-22T12:00+02:00',
      'before:2026-11-23',
      'after:-2h',
      'before:-119m',
      'after:-1w',
    ],
    ['before:2026-11-22T10:00Z', 'after:2026-11-22T10:00:00.001', 'after:-1h', 'before:-1d'],
  ],
  ['saved', { saved: true }, ['is:saved', '-is:unsaved'], ['is:unsaved']],
  [
    'nothing delivered',
    {},
    ['is:unsaved', '-is:failed'],
    ['is:delivered', 'is:failed', 'is:pending', 'status:200', 'status:5xx'],
  ],
  [
    'a success',
    { delivery: { status: 204, pending: false } },
    ['status:204', 'status:2xx', 'is:delivered', 'status:500,2xx'],
    ['is:failed', 'is:pending', 'status:200'],
  ],
  [
    'before the first attempt',
    { delivery: { status: undefined, pending: true } },
    ['is:pending', '-is:failed'],
    ['is:failed', 'is:delivered', 'status:5xx'],
  ],
  [
    'no answer',
    { delivery: { status: null, pending: true } },
    ['is:failed', 'is:pending'],
    ['is:delivered', 'status:5xx'],
  ],
];

test.each(CASES)('%s', (_, sample, hits, misses) => {
  expect(hits.filter((written) => !finds(written, sample))).toEqual([]);
  expect(misses.filter((written) => finds(written, sample))).toEqual([]);
});

test('expensive parts are read once, and only if a term needs them', () => {
  let bodies = 0;
  const request = { ...sampleSearchable({ method: 'GET' }), body: () => ((bodies += 1), Buffer.from('{"a":1}')) };
  const ask = (written: string): boolean => {
    const result = parseQuery(written);
    return result.ok && matcherOf(result.query, NOW)(request);
  };
  expect([ask('method:GET OR body:a'), bodies]).toEqual([true, 0]);
  expect([ask('body:a json.a:1 -body:x'), bodies]).toEqual([true, 1]);
});

test('hostile patterns and bodies take little time', () => {
  const text = `${'a'.repeat(200_000)}b`;
  const nested = `${'['.repeat(300_000)}${']'.repeat(300_000)}`;
  expect(finds(`path:${'*a'.repeat(900)}*c`, { target: `/${text}` })).toBe(false);
  expect(finds(`json${'.*'.repeat(900)}:1`, { body: nested })).toBe(false);
  expect(finds(`json${'.*'.repeat(900)}:*`, { body: nested })).toBe(true);
  expect(finds('json.a:>1', { body: `{"a":${'9'.repeat(200_000)}}` })).toBe(true);
  expect(finds('json.a:<1e-2000', { body: `{"a":1e-${'9'.repeat(200_000)}}` })).toBe(true);
  expect(finds('json.a:*', { body: `{"a":"${'\\'.repeat(200_001)}` })).toBe(false);
  expect(finds('json.a:x', { body: `{"b":${'"\\"'.repeat(100_000)}` })).toBe(false);
});

test('a large body is matched in many steps, so that a thread can do other work in between', () => {
  const body = `{"a":[${'{"b":1},'.repeat(100_000)}1]}`;
  const steps = (written: string): number => {
    const parsed = parseQuery(written);
    if (!parsed.ok) throw new Error(parsed.sentence);
    return [...steppedMatcherOf(parsed.query, NOW)(new RequestView(sampleSearchable({ body })))].length;
  };
  expect(steps('json.a.*.b:2')).toBeGreaterThan(20);
  // The value is found at once, and then the whole body is checked.
  expect(steps('json.a.0.b:1')).toBeGreaterThan(20);
  expect(steps('one OR two OR three')).toBeGreaterThanOrEqual(3);
});

test.each([
  ['json.a.1:y', '{"a":["x","y","z"],"a":[]}', true],
  ['json.a.3:y', '{"a":["x","y","z"]}', false],
  ['json.a.01:y', '{"a":["x","y"]}', false],
  ['json.a.x:y', '{"a":["x",{"x":"y"}]}', false],
  ['json.a.0.b:2', '{"a":[{"b":1}],"a":[{"b":2}]}', true],
  ['json.*.0:[]', '[ [] , [ [ ] ], [ [] , 1 ] ]', true],
  ['json.1.0:y', '[["x",["y"]],["y"]]', true],
  ['json.0:x', '["x","y"', false],
  ['json.0:x', '["x" "y"]', false],
])('%s in %s: %s', (query, body, isFound) => {
  expect(finds(query, { body })).toBe(isFound);
});

test('texts of any length are found', () => {
  const dice = makeDice(4);
  const letters = (length: number): string => Array.from({ length }, () => (dice.roll() < 0.9 ? 'a' : 'b')).join('');
  for (let nth = 0; nth < 300; nth += 1) {
    const body = letters(3000);
    const at = dice.below(2700);
    const text = body.slice(at, at + 180 + dice.below(60));
    const other = `${text.slice(0, -1)}${text.endsWith('a') ? 'b' : 'a'}`;
    for (const needle of [text, other]) expect(finds(`body:${needle}`, { body })).toBe(body.includes(needle));
  }
});
