import { z } from 'zod';
import type { RawHeaders } from './raw-headers.ts';
import { endToEndHeaders, isForwardingHeader } from './raw-headers.ts';
import { TOKEN } from './limits.ts';

/** How a sender signs its webhooks. */
export const signingSchemeSchema = z.enum(
  ['stripe', 'github', 'shopify', 'slack', 'standard-webhooks', 'hmac-sha256'],
  'Choose a scheme: stripe, github, shopify, slack, standard-webhooks or hmac-sha256.',
);
export type SigningScheme = z.infer<typeof signingSchemeSchema>;

const COMPUTED_SENTENCE = 'This header describes the connection, so it has no signature. Please enter another one';
const FORWARDING_SENTENCE = 'Forwarding replaces this header, so it has no signature. Please enter another one';
const HEADER_SENTENCE = 'Please enter the name of a header';
const PREFIX_SENTENCE = 'The prefix can have ASCII characters without spaces';

/** The secret that an endpoint's sender signs with. `header`, `encoding` and `prefix` are for `hmac-sha256`. */
export const storedSigningSecretSchema = z
  .object({
    scheme: signingSchemeSchema,
    secret: z
      .string('Please enter the secret')
      .min(1, 'Please enter the secret')
      .max(4096, 'The secret must be at most 4096 characters'),
    header: z
      .string(HEADER_SENTENCE)
      .max(200, 'The name of the header must be at most 200 characters')
      .regex(TOKEN, HEADER_SENTENCE)
      .optional(),
    encoding: z.enum(['hex', 'base64'], 'encoding must be hex or base64').optional(),
    prefix: z
      .string(PREFIX_SENTENCE)
      .max(100, 'The prefix must be at most 100 characters')
      .regex(/^[\x21-\x7e]*$/, PREFIX_SENTENCE)
      .optional(),
  })
  .refine(({ scheme, header }) => scheme !== 'hmac-sha256' || header !== undefined, {
    error: 'hmac-sha256 needs the name of the header that has the signature',
    path: ['header'],
  });
export type SigningSecret = z.output<typeof storedSigningSecretSchema>;

/** A secret as users enter it. */
export const signingSecretSchema = storedSigningSecretSchema
  .refine(({ header }) => header === undefined || endToEndHeaders([[header, '']]).length > 0, {
    error: COMPUTED_SENTENCE,
    path: ['header'],
  })
  .refine(({ header }) => header === undefined || !isForwardingHeader(header), {
    error: FORWARDING_SENTENCE,
    path: ['header'],
  });

/** The result of checking a captured request's signature. `reason` is a sentence, `null` if the signature is valid. */
export const signatureSchema = z.object({
  scheme: signingSchemeSchema,
  verdict: z.enum(['valid', 'invalid', 'missing']),
  reason: z.string().nullable(),
});
export type Signature = z.infer<typeof signatureSchema>;

/** The header that carries the signature. `hmac-sha256` has no fixed one. Standard Webhooks also uses `svix-signature`. */
export const SIGNATURE_HEADERS = {
  stripe: 'Stripe-Signature',
  github: 'X-Hub-Signature-256',
  shopify: 'X-Shopify-Hmac-Sha256',
  slack: 'X-Slack-Signature',
  'standard-webhooks': 'webhook-signature',
} as const satisfies Record<Exclude<SigningScheme, 'hmac-sha256'>, string>;

/** A scheme that a request seems to be signed with: everything of `SigningSecret` except the secret. */
export type SuggestedScheme = Omit<SigningSecret, 'secret'>;

/** Signatures that cover more than the body or have another key, although they look like a plain HMAC-SHA256. */
const OTHER_SIGNATURES: ReadonlySet<string> = new Set([
  'box-signature-primary',
  'box-signature-secondary',
  'twitch-eventsub-message-signature',
  'x-hubspot-signature',
  'x-hubspot-signature-v3',
  'x-square-hmacsha256-signature',
  'x-zendesk-webhook-signature',
  'x-zm-signature',
]);

/** A SHA-256 digest: 64 hex digits or 44 characters of base64, after an optional prefix such as `sha256=`. */
const DIGEST = /^(?<prefix>[\w-]+=)?(?:(?<hex>[\da-f]{64})|(?<base64>[A-Za-z\d+/]{43}=))$/i;

/** Suggests the scheme that a captured request is signed with, by its headers. `undefined` if no header looks like a signature. */
export function suggestScheme(headers: RawHeaders): SuggestedScheme | undefined {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const known = signingSchemeSchema.options.find(
    (scheme) => scheme !== 'hmac-sha256' && names.has(SIGNATURE_HEADERS[scheme].toLowerCase()),
  );
  if (known !== undefined) return { scheme: known };
  if (names.has('svix-signature')) return { scheme: 'standard-webhooks' };
  for (const [header, value] of headers) {
    const name = header.toLowerCase();
    if (!/signature|hmac/.test(name) || OTHER_SIGNATURES.has(name)) continue;
    const digest = DIGEST.exec(value.trim());
    if (digest === null) continue;
    const { prefix, hex } = digest.groups ?? {};
    return {
      scheme: 'hmac-sha256',
      header,
      encoding: hex === undefined ? 'base64' : 'hex',
      ...(prefix === undefined ? {} : { prefix }),
    };
  }
  return undefined;
}
