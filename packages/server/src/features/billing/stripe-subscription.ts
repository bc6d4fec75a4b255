import { z } from 'zod';
import { GatewayError } from './gateway.ts';
import type { GatewaySubscription } from './rules.ts';

/**
 * The fields of a subscription that are used. Hosts of `STRIPE_API_BASE` may speak an older version of the API: until
 * 2025, the end of the period was in the subscription instead of its items.
 */
const subscriptionSchema = z
  .object({
    id: z.string(),
    status: z.string(),
    created: z.number().default(0),
    cancel_at: z.number().nullable().default(null),
    cancel_at_period_end: z.boolean().default(false),
    current_period_end: z.number().optional(),
    items: z.object({
      data: z.array(
        z.object({ id: z.string(), price: z.object({ id: z.string() }), current_period_end: z.number().optional() }),
      ),
    }),
  })
  .transform(({ current_period_end: older, items, ...rest }, context): GatewaySubscription => {
    const data = items.data.flatMap(({ current_period_end: end = older, ...item }) =>
      end === undefined ? [] : { ...item, current_period_end: end },
    );
    if (data.length < items.data.length)
      context.addIssue({ code: 'custom', path: ['items'], message: 'current_period_end is missing' });
    return { ...rest, items: { data } };
  });

/** Reads a subscription. @throws GatewayError for another format */
export function readSubscription(subscription: unknown): GatewaySubscription {
  const read = subscriptionSchema.safeParse(subscription);
  if (!read.success) throw new GatewayError('unavailable', read.error);
  return read.data;
}
