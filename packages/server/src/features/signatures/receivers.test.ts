import { headerMap } from '@creel/contract';
import type { RawHeaders, SigningSecret } from '@creel/contract';
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { headersFor } from '../../../../../fixtures/webhooks/webhook-fixture.ts';
import { RECEIVERS, STANDARD_SECRET, bySlack, byStandard, byStripe } from '../../../test/receivers.ts';
import { renewSignature, verifySignature } from './service.ts';

/** Requests that were signed again, judged by the libraries of receivers. */

const now = Date.now();

describe.each(RECEIVERS)('$scheme', ({ fixture, scheme, secret, receive }) => {
  const signing: SigningSecret = { scheme, secret };
  const headers = headersFor(fixture, 'http://127.0.0.1/h/x');
  const edited = Buffer.from(fixture.body.toString().replace('{', '{"edited":"yes",'));
  const names = (list: RawHeaders) => list.map(([name]) => name);
  const verdict = async (signed: RawHeaders, body: Buffer) =>
    (await verifySignature(signing, { headers: signed, body, receivedAt: now })).verdict;

  test('the receiver accepts an edited body that was signed again, with the headers in their order', async () => {
    expect(await receive(secret, headers, edited)).toBe(false);
    const signed = await renewSignature(signing, { headers, body: edited, now });
    expect(await receive(secret, signed, edited)).toBe(true);
    expect(await verdict(signed, edited)).toBe('valid');
    expect(names(signed)).toEqual(names(headers));
  });

  test('the receiver accepts a request without any signature after it is signed, and one signed twice', async () => {
    const bare = headers.filter(([name]) => !/signature|hmac|timestamp/i.test(name));
    const once = await renewSignature(signing, { headers: bare, body: edited, now });
    const fresh = once.filter(([name]) => !bare.some(([given]) => given === name));
    const repeated = [...once, ...fresh.map(([name]): [string, string] => [name.toUpperCase(), 'stale'])];
    const twice = await renewSignature(signing, { headers: repeated, body: edited, now });
    expect(await receive(secret, once, edited)).toBe(true);
    expect(twice).toEqual(once);
  });

  test('the receiver rejects a request whose verdict is invalid', async () => {
    const signed = await renewSignature(signing, { headers, body: edited, now });
    const other = await renewSignature({ scheme, secret: `${secret}BBBB` }, { headers, body: edited, now });
    const cases: [string, RawHeaders, Buffer][] = [
      ['a change', signed, Buffer.concat([edited, Buffer.from(' ')])],
      ['another secret', other, edited],
      ['no signature', [['Content-Type', 'application/json']], edited],
    ];
    if (!['github', 'shopify'].includes(scheme)) {
      const old = await renewSignature(signing, { headers, body: edited, now: now - 400_000 });
      cases.push(['an old timestamp', old, edited]);
    }
    for (const [name, given, body] of cases) {
      expect([name, await verdict(given, body)]).not.toEqual([name, 'valid']);
      expect([name, await receive(secret, given, body)]).toEqual([name, false]);
    }
  });
});

test.each([
  ['before', true],
  ['after', false],
])('with another time %s its own, a signature is valid for Stripe and for us: %s', async (where, isValid) => {
  const signing: SigningSecret = { scheme: 'stripe', secret: 'whsec_times' };
  const body = Buffer.from('{}');
  const [[name, value] = ['', '']] = await renewSignature(signing, { headers: [], body, now });
  const other = `t=${Math.floor(now / 1000) - 1}`;
  const headers: RawHeaders = [[name, where === 'before' ? `${other},${value}` : `${value},${other}`]];
  expect(await byStripe(signing.secret, headers, body)).toBe(isValid);
  const { verdict } = await verifySignature(signing, { headers, body, receivedAt: now });
  expect(verdict === 'valid').toBe(isValid);
});

test.each([
  ['stripe', 'whsec_future', byStripe, 'valid'],
  ['slack', 'future', bySlack, 'valid'],
  ['standard-webhooks', STANDARD_SECRET, byStandard, 'invalid'],
] as const)(
  'a timestamp 400 s in the future: the verdict of %s is that of its library',
  async (scheme, secret, receive, verdict) => {
    const body = Buffer.from('{}');
    const headers = await renewSignature({ scheme, secret }, { headers: [], body, now: now + 400_000 });
    expect(await verifySignature({ scheme, secret }, { headers, body, receivedAt: now })).toMatchObject({ verdict });
    expect(await receive(secret, headers, body)).toBe(verdict === 'valid');
  },
);

test.each([
  ['after a stale one', ['v1,c3RhbGU=', 'fresh']],
  ['before a stale one', ['fresh', 'v1,c3RhbGU=']],
  ['twice', ['fresh', 'fresh']],
])('Standard Webhooks accept a signature in a header of its own: %s', async (_where, values) => {
  const signing: SigningSecret = { scheme: 'standard-webhooks', secret: STANDARD_SECRET };
  const body = Buffer.from('{}');
  const signed = await renewSignature(signing, { headers: [], body, now });
  const headers = signed.flatMap(([name, value]): RawHeaders =>
    name === 'webhook-signature' ? values.map((other) => [name, other === 'fresh' ? value : other]) : [[name, value]],
  );
  expect(byStandard(signing.secret, headers, body)).toBe(true);
  expect(await verifySignature(signing, { headers, body, receivedAt: now })).toMatchObject({ verdict: 'valid' });
});

test("GitHub's older signature is renewed where there is one", async () => {
  const body = Buffer.from('{}');
  const headers: RawHeaders = [['X-Hub-Signature', 'sha1=stale']];
  const signed = await renewSignature({ scheme: 'github', secret: 'shhh' }, { headers, body, now });
  expect(headerMap(signed)).toEqual({
    'x-hub-signature': `sha1=${createHmac('sha1', 'shhh').update(body).digest('hex')}`,
    'x-hub-signature-256': `sha256=${createHmac('sha256', 'shhh').update(body).digest('hex')}`,
  });
});

test('a plain HMAC is written to its header, in its encoding and with its prefix', async () => {
  const body = Buffer.from('{}');
  const own = { scheme: 'hmac-sha256', secret: 'shhh', header: 'X-Acme', encoding: 'base64', prefix: 'v1=' } as const;
  const signed = await renewSignature(own, { headers: [['x-acme', 'stale']], body, now });
  expect(signed).toEqual([['x-acme', `v1=${createHmac('sha256', 'shhh').update(body).digest('base64')}`]]);
});

test('Svix keeps its own header names and its id', async () => {
  const headers: RawHeaders = [
    ['svix-id', 'msg_1'],
    ['svix-timestamp', '1'],
    ['svix-signature', 'v1,stale'],
  ];
  const signed = await renewSignature(
    { scheme: 'standard-webhooks', secret: STANDARD_SECRET },
    { headers, body: Buffer.from('{}'), now },
  );
  expect(signed.map(([name]) => name)).toEqual(['svix-id', 'svix-timestamp', 'svix-signature']);
  expect(signed[0]).toEqual(['svix-id', 'msg_1']);
  const standardNames = signed.map(([name, value]): [string, string] => [name.replace('svix', 'webhook'), value]);
  expect(byStandard(STANDARD_SECRET, standardNames, Buffer.from('{}'))).toBe(true);
});
