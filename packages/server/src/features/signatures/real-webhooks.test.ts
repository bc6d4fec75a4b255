import { expect, test } from 'vitest';
import { bigJson } from '../../../../../fixtures/webhooks/big-json.ts';
import { githubPush } from '../../../../../fixtures/webhooks/github-push.ts';
import { shopifyOrdersCreate } from '../../../../../fixtures/webhooks/shopify-orders-create.ts';
import { slackEvent } from '../../../../../fixtures/webhooks/slack-event.ts';
import { stripeInvoicePaid } from '../../../../../fixtures/webhooks/stripe-invoice-paid.ts';
import { headersFor } from '../../../../../fixtures/webhooks/webhook-fixture.ts';
import type { RawHeaders, SigningSecret } from '@creel/contract';
import { verifySignature } from './service.ts';

const verify = (signing: SigningSecret, headers: RawHeaders, body: Buffer, at: number) =>
  verifySignature(signing, { headers, body, receivedAt: at * 1000 + 999 });

test.each([
  { fixture: stripeInvoicePaid, scheme: 'stripe', at: 1_791_967_126 },
  { fixture: githubPush, scheme: 'github', at: 0 },
  { fixture: shopifyOrdersCreate, scheme: 'shopify', at: 0 },
  { fixture: slackEvent, scheme: 'slack', at: 1_791_967_332 },
  { fixture: bigJson, scheme: 'standard-webhooks', at: 1_791_968_460 },
] as const)(
  '$scheme: valid with its secret, invalid with another or after a change',
  async ({ fixture, scheme, at }) => {
    const headers = headersFor(fixture, 'http://127.0.0.1/h/x');
    const signing = { scheme, secret: fixture.secret ?? '' };
    expect(await verify(signing, headers, fixture.body, at)).toEqual({ scheme, verdict: 'valid', reason: null });
    const other = await verify({ scheme, secret: 'another secret' }, headers, fixture.body, at);
    expect(other).toEqual({ scheme, verdict: 'invalid', reason: expect.stringContaining('does not match') });
    const changed = Buffer.from(fixture.body);
    changed.writeUInt8(changed.readUInt8(10) ^ 1, 10);
    expect((await verify(signing, headers, changed, at)).verdict).toBe('invalid');
    const missing = await verify(signing, [['Content-Type', 'application/json']], fixture.body, at);
    expect(missing).toEqual({
      scheme,
      verdict: 'missing',
      reason: expect.stringMatching(/^The request has no \S+ header\.$/),
    });
  },
);
