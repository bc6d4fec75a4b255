import { expect, test } from 'vitest';
import type { RawHeaders } from './raw-headers.ts';
import { signingSecretSchema, suggestScheme } from './signing.ts';
import type { SuggestedScheme } from './signing.ts';

const HEX = 'cab9592f435d1106632dff7fc4e0cf6208776f98c9b2b04067fc6b5b5ef0abc0';
const BASE64 = '/2SI4deXwQYsA44uX0mazPyBv5CikgV+2L9bycq0N+g=';

test.each<[RawHeaders, SuggestedScheme | undefined]>([
  [[['STRIPE-signature', 't=1,v1=a']], { scheme: 'stripe' }],
  [
    [
      ['X-Hub-Signature', 'sha1=a'],
      ['X-Hub-Signature-256', `sha256=${HEX}`],
    ],
    { scheme: 'github' },
  ],
  [[['x-shopify-hmac-sha256', BASE64]], { scheme: 'shopify' }],
  [[['X-Slack-Signature', `v0=${HEX}`]], { scheme: 'slack' }],
  [[['webhook-signature', `v1,${BASE64}`]], { scheme: 'standard-webhooks' }],
  [[['svix-signature', `v1,${BASE64}`]], { scheme: 'standard-webhooks' }],
  [[['Linear-Signature', HEX]], { scheme: 'hmac-sha256', header: 'Linear-Signature', encoding: 'hex' }],
  [
    [['X-WC-Webhook-Signature', BASE64]],
    { scheme: 'hmac-sha256', header: 'X-WC-Webhook-Signature', encoding: 'base64' },
  ],
  [
    [['X-Acme-Signature', `sha256=${HEX}`]],
    { scheme: 'hmac-sha256', header: 'X-Acme-Signature', encoding: 'hex', prefix: 'sha256=' },
  ],
  // They also cover a timestamp or the URL.
  [[['x-zm-signature', `v0=${HEX}`]], undefined],
  [[['Twitch-Eventsub-Message-Signature', `sha256=${HEX}`]], undefined],
  [[['X-Zendesk-Webhook-Signature', BASE64]], undefined],
  [
    [
      ['BOX-SIGNATURE-PRIMARY', BASE64],
      ['BOX-SIGNATURE-SECONDARY', BASE64],
    ],
    undefined,
  ],
  [[['x-square-hmacsha256-signature', BASE64]], undefined],
  [[['X-Acme-Signature', 'hello']], undefined],
  [[['X-Request-Id', HEX]], undefined],
  [[], undefined],
])('%j', (headers, expected) => {
  expect(suggestScheme(headers)).toEqual(expected);
});

test.each(['Content-Length', 'transfer-encoding', 'Host', 'Connection', 'creel-delivery'])(
  "%s can't have a signature",
  (header) => {
    const parsed = signingSecretSchema.safeParse({ scheme: 'hmac-sha256', secret: 'x', header });
    expect(parsed.error?.issues[0]?.path).toEqual(['header']);
  },
);
