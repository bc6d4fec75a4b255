import type { RawHeaders } from '@creel/contract';
import { createHmac } from 'node:crypto';

/** Time of the signatures and captures of tests, in seconds since 1970. */
export const NOW = 1_800_000_000;

/** How a sender makes a signature: its key, what it signs, and how it writes the digest. */
export interface Sender {
  readonly key: string | Buffer;
  readonly body: string | Buffer;
  readonly at?: number;
  readonly encoding?: 'hex' | 'base64';
}

/** The digest of some text and the body, encoded. */
export const digest = ({ key, body, encoding = 'hex' }: Sender, before = ''): string =>
  createHmac('sha256', key).update(before).update(body).digest(encoding);

/** The headers of each sender. */
export const byStripe = (sender: Sender): RawHeaders => {
  const { at = NOW } = sender;
  return [['Stripe-Signature', `t=${at},v1=${digest(sender, `${at}.`)}`]];
};
export const byGithub = (sender: Sender): RawHeaders => [['X-Hub-Signature-256', `sha256=${digest(sender)}`]];
export const byShopify = (sender: Sender): RawHeaders => [
  ['X-Shopify-Hmac-Sha256', digest({ encoding: 'base64', ...sender })],
];
export const bySlack = (sender: Sender): RawHeaders => {
  const { at = NOW } = sender;
  return [
    ['X-Slack-Request-Timestamp', String(at)],
    ['X-Slack-Signature', `v0=${digest(sender, `v0:${at}:`)}`],
  ];
};
export const byStandard = (sender: Sender): RawHeaders => {
  const { at = NOW } = sender;
  return [
    ['webhook-id', 'msg_1'],
    ['webhook-timestamp', String(at)],
    ['webhook-signature', `v1,${digest({ encoding: 'base64', ...sender }, `msg_1.${at}.`)}`],
  ];
};
export const byOthers = (sender: Sender): RawHeaders => [['X-Acme-Signature', digest(sender)]];
