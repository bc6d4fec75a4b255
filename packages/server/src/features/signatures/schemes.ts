import { SIGNATURE_HEADERS, headerMap } from '@creel/contract';
import type { RawHeaders, SigningScheme, SigningSecret } from '@creel/contract';
import { createHmac, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { REASONS } from './reasons.ts';

export type SignatureEncoding = 'hex' | 'base64';

/** The signature in a request's headers. */
export interface ReceivedSignature {
  /** A sender that rotates its secret sends several. One valid signature is enough. */
  readonly signatures: readonly string[];
  /** The signed text before the body, such as a timestamp. */
  readonly signedBefore: string;
  /** When it was signed, in seconds since 1970. `undefined` if the scheme has no timestamp. */
  readonly signedAt: number | undefined;
}

/** Why there is no signature that can be checked. */
export interface UnreadableSignature {
  readonly verdict: 'missing' | 'invalid';
  readonly reason: string;
}

/** The input of a new signature. */
interface Renewal {
  /** Seconds since 1970. */
  readonly seconds: number;
  readonly find: HeaderFinder;
  /** The signature of some text and the body, encoded. */
  readonly sign: (signedBefore: string, algorithm?: 'sha1' | 'sha256') => Promise<string>;
}

/** All values of a header, joined as Node joins them. `undefined` if there is none. */
export type HeaderFinder = (name: string) => string | undefined;

/** How one kind of sender signs. */
export interface Scheme {
  /** The name of the sender, for sentences. */
  readonly sender: string;
  readonly encoding: SignatureEncoding;
  /** The key of the HMAC. */
  readonly toKey: (secret: string) => Uint8Array;
  /** Finds the signature in the headers of a request. */
  readonly read: (find: HeaderFinder) => ReceivedSignature | UnreadableSignature;
  /** Returns the headers of a new signature. */
  readonly renew: (renewal: Renewal) => Promise<RawHeaders>;
  /** Whether receivers also reject a timestamp that is too far in the future. */
  readonly rejectsFuture?: true;
}

const textKey = (secret: string): Uint8Array => Buffer.from(secret, 'utf8');

/** The start of a secret of Standard Webhooks, and of Stripe, where it belongs to the key. */
export const SECRET_PREFIX = 'whsec_';

/** Decodes base64 with or without padding (RFC 4648, section 4). `undefined` for any other text. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const isBase64 = /^[A-Za-z\d+/]+={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1;
  return isBase64 ? Buffer.from(text, 'base64') : undefined;
}

/** Removes `whsec_` from the start of a secret. */
export function withoutSecretPrefix(secret: string): string {
  return secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
}

function missing(header: string): UnreadableSignature {
  return { verdict: 'missing', reason: REASONS.missingHeader(header) };
}

function unreadable(header: string, expected: string): UnreadableSignature {
  return { verdict: 'invalid', reason: REASONS.unreadableHeader(header, expected) };
}

/** What a SHA-256 digest looks like, for sentences. */
const DIGEST_FORM = { hex: '<64 hex digits>', base64: '<44 characters of base64>' } as const;

const TIMESTAMP = /^\d{1,15}$/;

const stripe: Scheme = {
  sender: 'Stripe',
  encoding: 'hex',
  toKey: textKey,
  read(find) {
    const header = SIGNATURE_HEADERS.stripe;
    const value = find(header);
    if (value === undefined) return missing(header);
    const parts = value.split(',').map((part) => part.split('='));
    const time = parts.findLast(([key]) => key === 't')?.[1] ?? '';
    const signatures = parts.flatMap(([key, signature]) => (key === 'v1' && signature ? [signature] : []));
    if (!TIMESTAMP.test(time) || signatures.length === 0)
      return unreadable(header, `t=1700000000,v1=${DIGEST_FORM.hex}`);
    return { signatures, signedBefore: `${time}.`, signedAt: Number(time) };
  },
  renew: async ({ seconds, sign }) => [[SIGNATURE_HEADERS.stripe, `t=${seconds},v1=${await sign(`${seconds}.`)}`]],
};

const GITHUB_PREFIX = 'sha256=';
/** GitHub's older signature, with SHA-1. */
const GITHUB_SHA1_HEADER = 'X-Hub-Signature';

const github: Scheme = {
  sender: 'GitHub',
  encoding: 'hex',
  toKey: textKey,
  read(find) {
    const header = SIGNATURE_HEADERS.github;
    const value = find(header);
    if (value === undefined) return missing(header);
    if (!value.startsWith(GITHUB_PREFIX)) return unreadable(header, `${GITHUB_PREFIX}${DIGEST_FORM.hex}`);
    return { signatures: [value.slice(GITHUB_PREFIX.length)], signedBefore: '', signedAt: undefined };
  },
  async renew({ find, sign }) {
    const headers: RawHeaders = [[SIGNATURE_HEADERS.github, `${GITHUB_PREFIX}${await sign('')}`]];
    // A stale signature would contradict the new one.
    if (find(GITHUB_SHA1_HEADER) !== undefined) headers.push([GITHUB_SHA1_HEADER, `sha1=${await sign('', 'sha1')}`]);
    return headers;
  },
};

const shopify: Scheme = {
  sender: 'Shopify',
  encoding: 'base64',
  toKey: textKey,
  read(find) {
    const value = find(SIGNATURE_HEADERS.shopify);
    if (value === undefined) return missing(SIGNATURE_HEADERS.shopify);
    return { signatures: [value], signedBefore: '', signedAt: undefined };
  },
  renew: async ({ sign }) => [[SIGNATURE_HEADERS.shopify, await sign('')]],
};

const SLACK_PREFIX = 'v0=';
const SLACK_TIME_HEADER = 'X-Slack-Request-Timestamp';

const slack: Scheme = {
  sender: 'Slack',
  encoding: 'hex',
  toKey: textKey,
  read(find) {
    const header = SIGNATURE_HEADERS.slack;
    const value = find(header);
    if (value === undefined) return missing(header);
    const time = find(SLACK_TIME_HEADER);
    if (time === undefined) return { ...missing(SLACK_TIME_HEADER), verdict: 'invalid' };
    if (!TIMESTAMP.test(time)) return unreadable(SLACK_TIME_HEADER, '1700000000');
    if (!value.startsWith(SLACK_PREFIX)) return unreadable(header, `${SLACK_PREFIX}${DIGEST_FORM.hex}`);
    const signatures = [value.slice(SLACK_PREFIX.length)];
    return { signatures, signedBefore: `v0:${time}:`, signedAt: Number(time) };
  },
  renew: async ({ seconds, sign }) => [
    [SLACK_TIME_HEADER, String(seconds)],
    [SIGNATURE_HEADERS.slack, `${SLACK_PREFIX}${await sign(`v0:${seconds}:`)}`],
  ],
};

/** The names of the three headers. Svix sends them under its own names if a request has no standard ones. */
function standardNames(find: HeaderFinder): { id: string; time: string; signature: string } {
  const signature = SIGNATURE_HEADERS['standard-webhooks'];
  const isSvix = find(signature) === undefined && find('svix-signature') !== undefined;
  return isSvix
    ? { id: 'svix-id', time: 'svix-timestamp', signature: 'svix-signature' }
    : { id: 'webhook-id', time: 'webhook-timestamp', signature };
}

const standardWebhooks: Scheme = {
  sender: 'Standard Webhooks',
  encoding: 'base64',
  rejectsFuture: true,
  // A secret that is not base64 can only be the key itself.
  toKey: (secret) => decodeBase64(withoutSecretPrefix(secret)) ?? textKey(secret),
  read(find) {
    const names = standardNames(find);
    const value = find(names.signature);
    if (value === undefined) return missing(names.signature);
    const id = find(names.id);
    const time = find(names.time);
    if (id === undefined) return { ...missing(names.id), verdict: 'invalid' };
    if (time === undefined) return { ...missing(names.time), verdict: 'invalid' };
    if (!TIMESTAMP.test(time)) return unreadable(names.time, '1700000000');
    // Like the senders' library. Two headers are joined with a comma and a space.
    const parts = value.split(' ').map((part) => part.split(','));
    const signatures = parts.flatMap(([version, signature]) => (version === 'v1' && signature ? [signature] : []));
    if (signatures.length === 0) return unreadable(names.signature, `v1,${DIGEST_FORM.base64}`);
    return { signatures, signedBefore: `${id}.${time}.`, signedAt: Number(time) };
  },
  async renew({ seconds, find, sign }) {
    const names = standardNames(find);
    // The id stays, so that receivers recognize a repeat.
    const id = find(names.id) ?? `msg_${randomUUID().replaceAll('-', '')}`;
    const signature = `v1,${await sign(`${id}.${seconds}.`)}`;
    return [
      [names.id, id],
      [names.time, String(seconds)],
      [names.signature, signature],
    ];
  },
};

const HEX_DIGEST = /^[\da-f]{64}$/i;

/** HMAC-SHA256 of the body in a header of any name. */
function plainHmac({ header = '', encoding = 'hex', prefix = '' }: SigningSecret): Scheme {
  return {
    // The standard of base64. No library defines the rest.
    sender: 'RFC 4648',
    encoding,
    toKey: textKey,
    read(find) {
      const value = find(header);
      if (value === undefined) return missing(header);
      if (/^[\s,]*$/.test(value)) return unreadable(header, `${prefix}${DIGEST_FORM[encoding]}`);
      // A prefix may have a comma itself, as in `v1,<digest>`.
      const escaped = prefix.replaceAll(/\W/g, String.raw`\$&`);
      const afterPrefix = new RegExp(String.raw`(?<![^\s,])${escaped}([^\s,]*)`, 'g');
      const signatures = [...value.matchAll(afterPrefix)].map(([, signature = '']) => signature);
      if (signatures.length === 0) return { verdict: 'invalid', reason: REASONS.missingPrefix(header, prefix) };
      // No library defines how such senders write hex digits.
      const sameCase = signatures.map((text) => (HEX_DIGEST.test(text) ? text.toLowerCase() : text));
      return { signatures: sameCase, signedBefore: '', signedAt: undefined };
    },
    renew: async ({ sign }) => [[header, `${prefix}${await sign('')}`]],
  };
}

const SCHEMES: Readonly<Record<SigningScheme, (signing: SigningSecret) => Scheme>> = {
  stripe: () => stripe,
  github: () => github,
  shopify: () => shopify,
  slack: () => slack,
  'standard-webhooks': () => standardWebhooks,
  'hmac-sha256': plainHmac,
};

/** The scheme that a stored secret belongs to. */
export function schemeOf(signing: SigningSecret): Scheme {
  return SCHEMES[signing.scheme](signing);
}

/** Returns a function that finds headers by name, in any case. */
export function headerFinder(headers: RawHeaders): HeaderFinder {
  const map = headerMap(headers);
  return (name) => map[name.toLowerCase()];
}

/** Bytes that are hashed before other work gets a turn. */
const SLICE_BYTES = 1024 * 1024;

/** Hash functions of HMACs, by Node's names. */
export type HashName = 'sha1' | 'sha256' | 'sha512';
/** Some text, and the body in parts. */
export type HmacContent = readonly [signedBefore: string, ...bodyParts: Uint8Array[]];

/** HMAC over some text and the body. Lets other work run while it hashes a long body. */
export async function hmac(
  algorithm: HashName,
  key: Uint8Array,
  ...[signedBefore, ...bodyParts]: HmacContent
): Promise<Buffer> {
  const running = createHmac(algorithm, key).update(signedBefore, 'latin1');
  for (const part of bodyParts) {
    for (let at = 0; at < part.length; at += SLICE_BYTES) {
      if (at > 0) await nextTurn();
      running.update(part.subarray(at, at + SLICE_BYTES));
    }
  }
  return running.digest();
}
