import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { ApiVersion, shopifyApi } from '@shopify/shopify-api';
import { isValidSlackRequest } from '@slack/bolt';
import { headerMap } from '@creel/contract';
import type { RawHeaders } from '@creel/contract';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { bigJson } from '../../../fixtures/webhooks/big-json.ts';
import { githubPush } from '../../../fixtures/webhooks/github-push.ts';
import { shopifyOrdersCreate } from '../../../fixtures/webhooks/shopify-orders-create.ts';
import { slackEvent } from '../../../fixtures/webhooks/slack-event.ts';
import { stripeInvoicePaid } from '../../../fixtures/webhooks/stripe-invoice-paid.ts';

await import('@shopify/shopify-api/adapters/node');

/** The libraries that receivers use, as the judges of signatures. */

export const STANDARD_SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';

/** True if the receiver accepts the request now. */
export type Receiver = (secret: string, headers: RawHeaders, body: Buffer) => boolean | Promise<boolean>;

const accepts = (check: () => unknown): boolean => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};

export const byStripe: Receiver = (secret, headers, body) => {
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

export const byStandard: Receiver = (secret, headers, body) =>
  accepts(() => new Webhook(secret).verify(body.toString(), headerMap(headers)));

export const bySlack: Receiver = (secret, headers, body) => {
  const { 'x-slack-request-timestamp': time, 'x-slack-signature': signature = '' } = headerMap(headers);
  return isValidSlackRequest({
    signingSecret: secret,
    body: body.toString(),
    headers: { 'x-slack-request-timestamp': Number(time), 'x-slack-signature': signature },
  });
};

/** The library for Standard Webhooks needs seconds for the whole body of 5 MiB. */
const smallJson = { ...bigJson, body: Buffer.from('{"event":"catalogue.exported","weight":1.0E-3}') };

/** A webhook of each scheme, with its secret and the library of its receivers. */
export const RECEIVERS = [
  { fixture: stripeInvoicePaid, scheme: 'stripe', secret: stripeInvoicePaid.secret ?? '', receive: byStripe },
  { fixture: githubPush, scheme: 'github', secret: githubPush.secret ?? '', receive: byGithub },
  { fixture: shopifyOrdersCreate, scheme: 'shopify', secret: shopifyOrdersCreate.secret ?? '', receive: byShopify },
  { fixture: slackEvent, scheme: 'slack', secret: slackEvent.secret ?? '', receive: bySlack },
  { fixture: smallJson, scheme: 'standard-webhooks', secret: STANDARD_SECRET, receive: byStandard },
] as const;
