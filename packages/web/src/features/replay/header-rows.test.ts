import { expect, test } from 'vitest';
import { declaredCoding, defaultRows, hasSignature, mistakeIn, sentHeaders, withNewRow } from './header-rows.ts';

const CAPTURED: [string, string][] = [
  ['Host', 'creel.example'],
  ['X-Name', 'cafÃ©'],
  ['content-type', 'text/plain; charset=latin1'],
  ['x-name', 'caf\u00e9'],
  ['Connection', 'close, X-Hop'],
  ['X-Hop', 'gone'],
  ['Content-Length', '3'],
  ['Content-Type', 'repeated'],
  ['X-Name', 'last'],
];

test('content type, source, then the captured headers in order, case and number, without connection headers', () => {
  const rows = defaultRows({ rawHeaders: CAPTURED, contentType: 'ignored/once-named' });
  expect(rows.map(({ name, value }) => [name, value])).toEqual([
    ['Content-Type', 'text/plain; charset=latin1'],
    ['X-Webhook-Source', 'Creel'],
    ['X-Name', 'café'],
    ['x-name', 'caf\u00e9'],
    ['X-Name', 'last'],
  ]);
  expect(rows.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
});

test.each([
  ['the known type', 'text/xml', 'text/xml'],
  ['else JSON', null, 'application/json'],
])('content type without a header: %s', (_, contentType, value) =>
  expect(defaultRows({ rawHeaders: [], contentType })[0]?.value).toBe(value),
);

test('an unchanged value is sent byte for byte', () => {
  const sent = sentHeaders(defaultRows({ rawHeaders: CAPTURED, contentType: null }));
  expect(sent.slice(2)).toEqual([
    { key: 'X-Name', value: 'cafÃ©' },
    { key: 'x-name', value: 'caf\u00e9' },
    { key: 'X-Name', value: 'last' },
  ]);
});

test('a changed value is sent as UTF-8; changed back, it is the captured one', () => {
  const row = { id: 0, name: 'X-Name', captured: 'caf\u00e9' };
  expect(sentHeaders([{ ...row, value: 'café!' }])).toEqual([{ key: 'X-Name', value: 'cafÃ©!' }]);
  expect(sentHeaders([{ ...row, value: 'caf\u00e9' }])).toEqual([{ key: 'X-Name', value: 'caf\u00e9' }]);
  expect(sentHeaders([{ id: 1, name: 'X-New', value: '漁' }])).toEqual([{ key: 'X-New', value: 'æ¼\u0081' }]);
});

test('rows with an empty name or value are dropped', () => {
  const rows = [
    { id: 0, name: ' ', value: 'a' },
    { id: 1, name: 'A', value: ' \t' },
    { id: 2, name: 'A', value: 'b' },
  ];
  expect(sentHeaders(rows)).toEqual([{ key: 'A', value: 'b' }]);
});

test.each([
  ['A', 'é 漁\t!', undefined],
  ['not a name', 'b', 'name'],
  ['Ä', 'b\u0000', 'name'],
  ['A', 'b\u0000', 'value'],
  ['', '\u0000', undefined],
] as const)('of %j: %j the part that cannot be sent is %s', (name, value, part) =>
  expect(mistakeIn({ id: 0, name, value })).toBe(part),
);

test('a new row has a unique id after rows were removed', () => {
  const rows = withNewRow(withNewRow([{ id: 7, name: 'A', value: 'b' }]));
  expect(rows.map(({ id }) => id)).toEqual([7, 8, 9]);
  expect(withNewRow([])[0]?.id).toBe(0);
});

test.each([
  ['stripe-signature', true],
  ['X-Hub-Signature-256', true],
  ['X-Shopify-Hmac-Sha256', true],
  ['x-slack-signature', true],
  ['Signature', true],
  ['X-Signatures-Seen', false],
  ['Content-Type', false],
])('%s is a signature of the body: %s', (name, isSignature) =>
  expect(hasSignature([{ id: 0, name, value: 'v1=0' }])).toBe(isSignature),
);

test('a row that is not sent declares no content coding', () => {
  const rows = (value: string) => [{ id: 0, name: 'Content-Encoding', value }];
  expect(hasSignature([{ id: 0, name: 'Stripe-Signature', value: '' }])).toBe(false);
  expect(declaredCoding(rows('gzip'))).toBe('gzip');
  expect(declaredCoding(rows('identity'))).toBeUndefined();
  expect(declaredCoding(rows(''))).toBeUndefined();
});
