import { expect, test } from 'vitest';
import type { RawHeaders } from './captured-request.ts';
import { SOURCE_LABELS, sourceLabel } from './source-label.ts';
import type { SourceLabel } from './source-label.ts';

const agent = (value: string): RawHeaders => [['User-Agent', value]];

/** The rules of spec 5, in their order. */
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

test('the labels are those of contract 3', () => {
  expect(SOURCE_LABELS).toEqual(['Stripe', 'GitHub', 'Shopify', 'Browser', 'Unknown']);
});
