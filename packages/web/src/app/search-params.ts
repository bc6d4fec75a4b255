import { z } from 'zod';

/**
 * What of a screen stands in its address (design 6). A value that makes no sense counts as missing, so that an old link still
 * opens its page.
 */

export const DETAIL_TABS = ['json', 'headers', 'query', 'raw'] as const;
export const FILTERS = ['all', 'get', 'post', 'put', 'delete'] as const;

export const endpointSearchSchema = z.object({
  /** Index of the selected request: unlike the id it stays the same when the request is saved (contract 2). */
  request: z.int().min(0).optional().catch(undefined),
  /** Tab of the details; without it the spec's rule chooses. */
  tab: z.enum(DETAIL_TABS).optional().catch(undefined),
  filter: z.enum(FILTERS).optional().catch(undefined),
  /** Text that the list is narrowed to. */
  find: z.string().max(200).optional().catch(undefined),
  /** Index of the request that the selected one is compared with. */
  compare: z.int().min(0).optional().catch(undefined),
});

/** TanStack Router reads `?q=123` as a number; a search text is a text. */
const text = z.union([z.string(), z.number().transform(String), z.boolean().transform(String)]);

export const searchSearchSchema = z.object({ q: text.optional().catch(undefined) });

export const authSearchSchema = z.object({
  next: text.optional().catch(undefined),
  tab: z.enum(['login', 'register']).optional().catch(undefined),
});

export const tokenSearchSchema = z.object({ token: text.optional().catch(undefined) });

export const profileSearchSchema = z.object({
  tab: z.enum(['profile', 'security', 'subscription']).optional().catch(undefined),
});

/** What the payment provider adds to the address when the browser comes back from a checkout. */
export const subscriptionSearchSchema = z.object({
  checkout: z.enum(['success', 'canceled']).optional().catch(undefined),
});

export const testPortalSearchSchema = z.object({ return: text.optional().catch(undefined) });
