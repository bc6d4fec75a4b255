import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { ApiVersion, shopifyApi } from '@shopify/shopify-api';
import { headerMap } from '@creel/contract';
import type { RawHeaders, SigningSecret } from '@creel/contract';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { describe, expect, test } from 'vitest';
import { bigJson } from '../../../../../fixtures/webhooks/big-json.ts';
import { githubPush } from '../../../../../fixtures/webhooks/github-push.ts';
import { shopifyOrdersCreate } from '../../../../../fixtures/webhooks/shopify-orders-create.ts';
import { slackEvent } from '../../../../../fixtures/webhooks/slack-event.ts';
import { stripeInvoicePaid } from '../../../../../fixtures/webhooks/stripe-invoice-paid.ts';
import { headersFor } from '../../../../../fixtures/webhooks/webhook-fixture.ts';
import { renewSignature, verifySignature } from './service.ts';

await import('@shopify/shopify-api/adapters/node');

/** The libraries that receivers use, as the judges of what was signed afresh. */

const now = Date.now();
const STANDARD = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';

/** True if the receiver accepts the request now. */
type Receiver = (secret: string, headers: RawHeaders, body: Buffer) => boolean | Promise<boolean>;

const accepts = (check: () => unknown): boolean => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};

const byStripe: Receiver = (secret, headers, body) => {
  const stripe = new Stripe('sk_test_unused');
  return accepts(() => stripe.webhooks.constructEvent(body, headerMap(headers)['stripe-signature'] ?? '', secret));
};

const byGithub: Receiver = (secret, headers, body) =>
  verifyGithub(secret, body.toString(), headerMap(headers)['x-hub-signature-256'] ?? 'none');

const byShopify: Receiver = async (secret, headers, body) => {
  const shopify = shopifyApi({
    apiKey: 'unused',
    apiSecretKey: secret,
    hostName: 'app.example.com',
    apiVersion: ApiVersion.October26,
    isEmbeddedApp: true,
    logger: { log: () => undefined },
  });
  const rawRequest = { method: 'POST', url: '/', headers: headerMap(headers) };
  const { valid } = await shopify.webhooks.validate({ rawBody: body.toString(), rawRequest, rawResponse: {} });
  return valid;
};

const byStandard: Receiver = (secret, headers, body) =>
  accepts(() => new Webhook(secret).verify(body.toString(), headerMap(headers)));

/** As Slack documents it: https://docs.slack.dev/authentication/verifying-requests-from-slack. */
const bySlack: Receiver = (secret, headers, body) => {
  const { 'x-slack-request-timestamp': time = '', 'x-slack-signature': signature = '' } = headerMap(headers);
  if (Math.abs(Date.now() / 1000 - Number(time)) > 60 * 5) return false;
  const expected = `v0=${createHmac('sha256', secret).update(`v0:${time}:`).update(body).digest('hex')}`;
  return signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
};

/** The library for Standard Webhooks needs seconds for the whole body of 5 MiB. */
const smallJson = { ...bigJson, body: Buffer.from('{"event":"catalogue.exported","weight":1.0E-3}') };

const RECEIVERS = [
  { fixture: stripeInvoicePaid, scheme: 'stripe', secret: stripeInvoicePaid.secret, receive: byStripe },
  { fixture: githubPush, scheme: 'github', secret: githubPush.secret, receive: byGithub },
  { fixture: shopifyOrdersCreate, scheme: 'shopify', secret: shopifyOrdersCreate.secret, receive: byShopify },
  { fixture: slackEvent, scheme: 'slack', secret: slackEvent.secret, receive: bySlack },
  { fixture: smallJson, scheme: 'standard-webhooks', secret: STANDARD, receive: byStandard },
] as const;

describe.each(RECEIVERS)('$scheme', ({ fixture, scheme, secret = '', receive }) => {
  const signing: SigningSecret = { scheme, secret };
  const headers = headersFor(fixture, 'http://127.0.0.1/h/x').map(([name, value]): [string, string] => [name, value]);
  const edited = Buffer.from(fixture.body.toString().replace('{', '{"edited":"yes",'));
  const names = (list: RawHeaders) => list.map(([name]) => name);
  const verdict = async (signed: RawHeaders, body: Buffer) =>
    (await verifySignature(signing, { headers: signed, body, receivedAt: now })).verdict;

  test('the receiver accepts an edited body that was signed afresh, with the headers in their order', async () => {
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

  test('the receiver rejects what is called invalid', async () => {
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
  ['stripe', stripeInvoicePaid.secret ?? '', byStripe, 'valid'],
  ['standard-webhooks', STANDARD, byStandard, 'invalid'],
] as const)(
  'a timestamp 400 s in the future: the verdict of %s is that of its library',
  async (scheme, secret, receive, verdict) => {
    const body = Buffer.from('{}');
    const headers = await renewSignature({ scheme, secret }, { headers: [], body, now: now + 400_000 });
    expect(await verifySignature({ scheme, secret }, { headers, body, receivedAt: now })).toMatchObject({ verdict });
    expect(await receive(secret, headers, body)).toBe(verdict === 'valid');
  },
);

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
    { scheme: 'standard-webhooks', secret: STANDARD },
    { headers, body: Buffer.from('{}'), now },
  );
  expect(signed.map(([name]) => name)).toEqual(['svix-id', 'svix-timestamp', 'svix-signature']);
  expect(signed[0]).toEqual(['svix-id', 'msg_1']);
  const standardNames = signed.map(([name, value]): [string, string] => [name.replace('svix', 'webhook'), value]);
  expect(byStandard(STANDARD, standardNames, Buffer.from('{}'))).toBe(true);
});
