import { firstHeader } from './raw-headers.ts';
import type { RawHeaders } from './raw-headers.ts';

/** Labels and event types depend only on this many bytes of a body. Lists have as many, so all views agree. */
export { BODY_PREVIEW_BYTES as LABEL_BODY_BYTES } from './limits.ts';

/**
 * Documented headers that identify a sender, in order of precedence. Meta is last because other senders use the same name for their
 * signature header.
 */
const SENDER_HEADERS = [
  ['stripe-signature', 'Stripe'],
  ['x-gitlab-event', 'GitLab'],
  ['x-event-key', 'Bitbucket'],
  ['x-slack-signature', 'Slack'],
  ['x-twilio-email-event-webhook-signature', 'SendGrid'],
  ['x-twilio-signature', 'Twilio'],
  ['x-amz-sns-message-type', 'Amazon SNS'],
  ['x-signature-ed25519', 'Discord'],
  ['linear-signature', 'Linear'],
  ['linear-event', 'Linear'],
  ['paddle-signature', 'Paddle'],
  ['paypal-transmission-sig', 'PayPal'],
  ['x-square-hmacsha256-signature', 'Square'],
  ['x-hubspot-signature', 'HubSpot'],
  ['x-hubspot-signature-v3', 'HubSpot'],
  ['x-zm-signature', 'Zoom'],
  ['x-wc-webhook-topic', 'WooCommerce'],
  ['typeform-signature', 'Typeform'],
  ['x-telegram-bot-api-secret-token', 'Telegram'],
  ['x-atlassian-webhook-identifier', 'Jira'],
  ['sentry-hook-resource', 'Sentry'],
  ['svix-signature', 'Svix'],
  ['webhook-signature', 'Standard Webhooks'],
  ['ce-specversion', 'CloudEvents'],
  ['x-hub-signature-256', 'Meta'],
] as const;

export type SourceLabel = (typeof SENDER_HEADERS)[number][1] | 'GitHub' | 'Shopify' | 'Browser' | 'Unknown';

/** Parts of user agents that name a sender, in lower case. */
const SENDER_AGENTS: readonly (readonly [string, SourceLabel])[] = [
  ['slackbot', 'Slack'],
  ['sendgrid', 'SendGrid'],
  ['twilio', 'Twilio'],
  ['amazon simple notification service', 'Amazon SNS'],
  ['discord', 'Discord'],
  ['facebook', 'Meta'],
];

/**
 * Header of the test request that the endpoint page sends. It says nothing about the real sender, so its browser must not become the
 * source of the endpoint.
 */
export const TEST_REQUEST_HEADER = 'creel-test';

/** Names of the headers that `sourceLabel` examines, in lower case. */
export const SOURCE_HEADERS: ReadonlySet<string> = new Set([
  'user-agent',
  TEST_REQUEST_HEADER,
  'x-github-event',
  'x-shopify-topic',
  'x-shopify-hmac-sha256',
  ...SENDER_HEADERS.map(([name]) => name),
]);

/**
 * Returns the sender of a request. Stripe, GitHub and Shopify come first, by user agent or header, Shopify also by the
 * body. Then come the other senders, and browsers. Other HTTP clients and the test request are `Unknown`. `bodyText` is
 * the beginning of the body.
 */
export function sourceLabel(rawHeaders: RawHeaders, bodyText: string): SourceLabel {
  const agent = firstHeader(rawHeaders, 'user-agent')?.toLowerCase() ?? '';
  const has = (name: string): boolean => firstHeader(rawHeaders, name) !== undefined;
  if (has(TEST_REQUEST_HEADER)) return 'Unknown';
  if (agent.includes('stripe')) return 'Stripe';
  if (agent.includes('github') || has('x-github-event')) return 'GitHub';
  if (agent.includes('shopify') || has('x-shopify-topic') || has('x-shopify-hmac-sha256')) return 'Shopify';
  if (/shopify/i.test(bodyText)) return 'Shopify';
  return senderByHeader(rawHeaders) ?? senderByAgent(agent);
}

interface Sender {
  readonly label: SourceLabel;
  /** Position in `SENDER_HEADERS`, which is not searched for every capture of an endpoint without a source. */
  readonly rank: number;
}

const SENDERS: ReadonlyMap<string, Sender> = new Map(
  SENDER_HEADERS.map(([name, label], rank) => [name, { label, rank }]),
);

function senderByHeader(rawHeaders: RawHeaders): SourceLabel | undefined {
  let best: Sender | undefined;
  for (const [name] of rawHeaders) {
    const sender = SENDERS.get(name.toLowerCase());
    if (sender !== undefined && sender.rank < (best?.rank ?? Infinity)) best = sender;
  }
  return best?.label;
}

function senderByAgent(agent: string): SourceLabel {
  const known = SENDER_AGENTS.find(([part]) => agent.includes(part));
  if (known !== undefined) return known[1];
  return agent.includes('mozilla') || agent.includes('chrome') ? 'Browser' : 'Unknown';
}
