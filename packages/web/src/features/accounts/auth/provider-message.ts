import { z } from 'zod';

/**
 * The message of the provider's callback page. It arrives by `postMessage` to the opener, or by a BroadcastChannel
 * with the name below if the provider cuts the opener. It proves nothing: the server compares it with what it has
 * verified (docs/api.md, "Third-party login").
 */
export const PROVIDER_CHANNEL = 'creel-sign-in';

export const providerMessageSchema = z.object({
  type: z.literal(PROVIDER_CHANNEL),
  identity: z
    .object({ email: z.string().nullish(), displayName: z.string().nullish(), uid: z.string().nullish() })
    .optional(),
  /** A code of `PROVIDER_PROBLEMS` if there is no identity. */
  problem: z.string().optional(),
  /** The message for the user, if the code is not specific enough. */
  message: z.string().optional(),
});
export type ProviderMessage = z.infer<typeof providerMessageSchema>;

type Identity = NonNullable<ProviderMessage['identity']>;

/** If there is no display name, the part of the email before the at sign is used. */
export function completeIdentity(identity: Identity): Identity {
  const fallback = identity.email?.split('@')[0];
  return { ...identity, displayName: identity.displayName || fallback || null };
}
