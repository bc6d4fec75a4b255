import { z } from 'zod';

/**
 * What the callback page of the sign-in window tells this page, by `postMessage` to its opener and by a BroadcastChannel of the name
 * below (providers that cut the opener leave only that). Proof of nothing: the server compares it with what it has verified (contract 6).
 */
export const PROVIDER_CHANNEL = 'creel-sign-in';

export const providerMessageSchema = z.object({
  type: z.literal(PROVIDER_CHANNEL),
  identity: z
    .object({ email: z.string().nullish(), displayName: z.string().nullish(), uid: z.string().nullish() })
    .optional(),
  /** A code of `PROVIDER_PROBLEMS`, when there is no identity. */
  problem: z.string().optional(),
  /** The sentence for the person, when the code alone does not say it. */
  message: z.string().optional(),
});
export type ProviderMessage = z.infer<typeof providerMessageSchema>;

type Identity = NonNullable<ProviderMessage['identity']>;

/** The display name falls back to the part of the email before the at sign (spec 7). */
export function completeIdentity(identity: Identity): Identity {
  const fallback = identity.email?.split('@')[0];
  return { ...identity, displayName: identity.displayName || fallback || null };
}
