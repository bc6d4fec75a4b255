import { z } from 'zod';
import { TOKEN } from './token.ts';

/** How a sender signs its webhooks. */
export const signingSchemeSchema = z.enum(
  ['stripe', 'github', 'shopify', 'slack', 'standard-webhooks', 'hmac-sha256'],
  {
    error: 'Choose a scheme: stripe, github, shopify, slack, standard-webhooks or hmac-sha256.',
  },
);
export type SigningScheme = z.infer<typeof signingSchemeSchema>;

/** The secret that an endpoint's sender signs with. `header`, `encoding` and `prefix` are for `hmac-sha256`. */
export const signingSecretSchema = z
  .object({
    scheme: signingSchemeSchema,
    secret: z
      .string({ error: 'Please enter the secret' })
      .min(1, { error: 'Please enter the secret' })
      .max(4096, { error: 'The secret must be at most 4096 characters' }),
    header: z.string().regex(TOKEN, { error: 'Please enter the name of a header' }).optional(),
    encoding: z.enum(['hex', 'base64'], { error: 'encoding must be hex or base64' }).optional(),
    prefix: z.string().max(100, { error: 'The prefix must be at most 100 characters' }).optional(),
  })
  .refine(({ scheme, header }) => scheme !== 'hmac-sha256' || header !== undefined, {
    error: 'hmac-sha256 needs the name of the header that has the signature',
    path: ['header'],
  });
export type SigningSecret = z.output<typeof signingSecretSchema>;

/** The result of checking a captured request's signature. `reason` is a sentence, `null` if the signature is valid. */
export const signatureSchema = z.object({
  scheme: signingSchemeSchema,
  verdict: z.enum(['valid', 'invalid', 'missing']),
  reason: z.string().nullable(),
});
export type Signature = z.infer<typeof signatureSchema>;
