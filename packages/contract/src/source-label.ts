import { firstHeader } from './views.ts';
import type { RawHeaders } from './captured-request.ts';

export const SOURCE_LABELS = ['Stripe', 'GitHub', 'Shopify', 'Browser', 'Unknown'] as const;
export type SourceLabel = (typeof SOURCE_LABELS)[number];

/**
 * Who sent it, by the rules of spec 5 in their order: the card payment provider's user agent, the code host's user agent or event
 * header, a body that names the shop platform (its own headers count too, so that a body in another language is told), a
 * browser's user agent.
 */
export function sourceLabel(rawHeaders: RawHeaders, bodyText: string): SourceLabel {
  const agent = firstHeader(rawHeaders, 'user-agent')?.toLowerCase() ?? '';
  if (agent.includes('stripe')) return 'Stripe';
  if (agent.includes('github') || firstHeader(rawHeaders, 'x-github-event') !== undefined) return 'GitHub';
  if (agent.includes('shopify') || firstHeader(rawHeaders, 'x-shopify-topic') !== undefined) return 'Shopify';
  if (/shopify/i.test(bodyText)) return 'Shopify';
  if (agent.includes('mozilla') || agent.includes('chrome')) return 'Browser';
  return 'Unknown';
}
