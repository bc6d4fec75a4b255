import { expect, test } from 'vitest';
import type { RawHeaders } from './raw-headers.ts';
import { SOURCE_HEADERS, sourceLabel } from './source-label.ts';
import type { SourceLabel } from './source-label.ts';

const agent = (value: string): RawHeaders => [['User-Agent', value]];

test.each<[string, RawHeaders, string, SourceLabel]>([
  ["the card payment provider's user agent", agent('Stripe/1.0 (+https://stripe.com/docs/webhooks)'), '', 'Stripe'],
  ['in any case', agent('sTRIPE'), '', 'Stripe'],
  ["the code host's user agent", agent('GitHub-Hookshot/044aadd'), '', 'GitHub'],
  ["the code host's event header", [['X-GitHub-Event', 'push']], '', 'GitHub'],
  ['even an empty one', [['x-github-event', '']], '', 'GitHub'],
  ['a body that names the shop platform', agent('curl/8'), '{"source":"shopify"}', 'Shopify'],
  ['in any case', [], 'SHOPIFY', 'Shopify'],
  ["the shop platform's own header", [['X-Shopify-Topic', 'orders/create']], '{}', 'Shopify'],
  ["the shop platform's user agent", agent('Shopify-Captain-Hook'), '', 'Shopify'],
  ['mozilla', agent('Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'), '', 'Browser'],
  ['chrome', agent('HeadlessChrome/130'), '', 'Browser'],
  ['the test request of the endpoint page', [...agent('Mozilla/5.0'), ['creel-test', '1']], 'shopify', 'Unknown'],
  ['anything else', agent('curl/8.5.0'), 'hello', 'Unknown'],
  ['nothing at all', [], '', 'Unknown'],
  ['payment before shop', agent('Stripe/1.0'), 'shopify', 'Stripe'],
  ['code host before shop', [['X-GitHub-Event', 'push']], 'shopify', 'GitHub'],
  [
    'payment before code host',
    [
      ['User-Agent', 'Stripe'],
      ['X-GitHub-Event', 'push'],
    ],
    '',
    'Stripe',
  ],
  ['shop before browser', agent('Mozilla/5.0'), 'shopify', 'Shopify'],
  [
    'the name in another header counts for nothing',
    [
      ['Referer', 'https://stripe.com'],
      ['X-From', 'github'],
    ],
    '',
    'Unknown',
  ],
  ['a body that names others counts for nothing', [], 'stripe github mozilla', 'Unknown'],
])('%s', (_what, headers, body, label) => {
  expect(sourceLabel(headers, body)).toBe(label);
});

test.each<[SourceLabel, string]>([
  ['Stripe', 'Stripe-Signature'],
  ['Shopify', 'X-Shopify-Hmac-Sha256'],
  ['Slack', 'X-Slack-Signature'],
  ['Twilio', 'X-Twilio-Signature'],
  ['SendGrid', 'X-Twilio-Email-Event-Webhook-Signature'],
  ['Amazon SNS', 'x-amz-sns-message-type'],
  ['Discord', 'X-Signature-Ed25519'],
  ['Linear', 'Linear-Signature'],
  ['GitLab', 'X-Gitlab-Event'],
  ['Meta', 'X-Hub-Signature-256'],
  ['Typeform', 'Typeform-Signature'],
  ['Telegram', 'X-Telegram-Bot-Api-Secret-Token'],
  ['Jira', 'X-Atlassian-Webhook-Identifier'],
  ['Standard Webhooks', 'webhook-signature'],
])('%s is recognized by %s', (label, name) => {
  expect(sourceLabel([[name, 'x'], ...agent('curl/8')], '{}')).toBe(label);
  expect(SOURCE_HEADERS).toContain(name.toLowerCase());
});

test('Stripe, GitHub and Shopify take precedence over other documented headers, and these over browsers', () => {
  expect(sourceLabel([['X-Slack-Signature', 'v0=1'], ...agent('Mozilla/5.0')], '')).toBe('Slack');
  expect(
    sourceLabel(
      [
        ['X-Hub-Signature-256', 'sha256=1'],
        ['X-GitHub-Event', 'push'],
      ],
      '',
    ),
  ).toBe('GitHub');
  expect(sourceLabel([['X-Slack-Signature', 'v0=1']], 'shopify')).toBe('Shopify');
});

test.each(['curl/8.5.0', 'python-requests/2.32', 'Go-http-client/1.1', 'axios/1.7', 'PostmanRuntime/7'])(
  'the general client %s is unknown',
  (value) => expect(sourceLabel(agent(value), '{}')).toBe('Unknown'),
);
