import { parseJson } from '@creel/contract';
import type { SigningScheme, SigningSecret } from '@creel/contract';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { REASONS } from './reasons.ts';
import { SECRET_PREFIX, decodeBase64, hmac, schemeOf, withoutSecretPrefix } from './schemes.ts';
import type { HashName, HmacContent, ReceivedSignature, Scheme, SignatureEncoding } from './schemes.ts';

/** A signature that does not match, with all that it was compared with. */
export interface Mismatch {
  readonly signing: SigningSecret;
  readonly received: ReceivedSignature;
  readonly body: Uint8Array;
  /** The digest that the secret gives. */
  readonly expected: Uint8Array;
}

/** Tries the usual mistakes: in the signature, in the secret, then in the body. Returns a sentence for the user. */
export async function explainMismatch(mismatch: Mismatch): Promise<string> {
  const { signing, received, body, expected } = mismatch;
  const scheme = schemeOf(signing);
  const spelling = explainSpelling(scheme, signing, received.signatures, Buffer.from(expected));
  if (spelling !== undefined) return spelling;
  const { signatures, signedBefore } = received;
  const isHmac = async (hash: HashName, key: Uint8Array, ...content: HmacContent): Promise<boolean> => {
    await nextTurn();
    return signatures.includes((await hmac(hash, key, ...content)).toString(scheme.encoding));
  };
  const isSigned = (key: Uint8Array, ...parts: readonly Uint8Array[]): Promise<boolean> =>
    isHmac('sha256', key, signedBefore, ...parts);
  const key = scheme.toKey(signing.secret);
  for (const hash of ['sha1', 'sha512'] as const)
    if (await isHmac(hash, key, signedBefore, body)) return REASONS.otherHash(hash.toUpperCase());
  for (const { before, name } of otherBeginnings(received))
    if (await isHmac('sha256', key, before, body)) return REASONS.otherContent(name, signedBefore);
  for (const { key: other, reason } of otherKeys(scheme, signing))
    if (!Buffer.from(other).equals(key) && (await isSigned(other, body))) return reason;
  for (const { parts, name } of otherBodies(body)) if (await isSigned(key, ...parts)) return REASONS.changedBody(name);
  return likelyReason(mismatch, scheme);
}

/** Explains a correct signature in another notation than that of the scheme. */
function explainSpelling(
  { encoding, sender }: Scheme,
  { scheme }: SigningSecret,
  signatures: readonly string[],
  expected: Buffer,
): string | undefined {
  const other: SignatureEncoding = encoding === 'hex' ? 'base64' : 'hex';
  for (const signature of signatures) {
    if (sameDigest(signature, other, expected))
      return scheme === 'hmac-sha256'
        ? REASONS.otherEncoding(other, encoding)
        : REASONS.otherEncodingOf(other, encoding, sender);
    if (sameDigest(signature, encoding, expected)) return REASONS.otherSpelling(sender, expected.toString(encoding));
    if (sameDigest(Buffer.from(signature, 'base64').toString('latin1'), 'hex', expected)) return REASONS.hexInBase64();
    const [, prefix = '', rest = ''] = /^([\w-]+=)(.+)$/.exec(signature) ?? [];
    if (scheme === 'hmac-sha256' && (sameDigest(rest, 'hex', expected) || sameDigest(rest, 'base64', expected)))
      return REASONS.unsetPrefix(prefix);
  }
  return undefined;
}

function sameDigest(signature: string, encoding: SignatureEncoding, expected: Buffer): boolean {
  return Buffer.from(signature, encoding).equals(expected);
}

/** Texts that the sender may have signed before the body instead of the scheme's. */
function otherBeginnings({ signedBefore, signedAt }: ReceivedSignature): { before: string; name: string }[] {
  if (signedBefore === '') return [];
  const withoutDivider = signedBefore.slice(0, -1);
  const texts = new Set([withoutDivider, `${signedAt}.`, `${signedAt}:`, `${signedAt}`]);
  const named = [...texts].map((before) => ({ before, name: `“${before}” and then the body` }));
  return [{ before: '', name: 'The body alone' }, ...named].filter(({ before }) => before !== signedBefore);
}

const HEX = /^(?:[\da-f]{2})+$/i;

/** Keys that the sender can have used, if the stored secret was copied or read in the wrong way. */
function otherKeys(scheme: Scheme, { secret }: SigningSecret) {
  const trimmed = secret.trim();
  const where = secret.endsWith(trimmed) ? 'beginning' : 'end';
  const bare = withoutSecretPrefix(trimmed);
  const unquoted = trimmed.replace(/^(["'`])(.*)\1$/s, '$2');
  const base64 = decodeBase64(bare);
  const hex = HEX.test(bare) ? Buffer.from(bare, 'hex') : undefined;
  const readsBase64 = scheme.toKey(trimmed).length < bare.length;
  const signedWith = (reading: string): string => REASONS.secretReadAs(reading, readsBase64 ? 'base64' : 'text');
  const keys = [
    secret === trimmed ? undefined : { key: scheme.toKey(trimmed), reason: REASONS.secretWithSpace(where) },
    { key: scheme.toKey(`${trimmed}\n`), reason: REASONS.secretOfSenderWithLineBreak() },
    { key: scheme.toKey(unquoted), reason: REASONS.secretInQuotes() },
    { key: scheme.toKey(SECRET_PREFIX + trimmed), reason: REASONS.secretWithoutPrefix(SECRET_PREFIX) },
    trimmed === bare ? undefined : { key: scheme.toKey(bare), reason: REASONS.secretWithPrefix(SECRET_PREFIX) },
    base64 && { key: base64, reason: signedWith('base64') },
    hex && { key: hex, reason: signedWith('hex') },
    { key: Buffer.from(bare, 'utf8'), reason: signedWith('text') },
    { key: Buffer.from(trimmed, 'utf8'), reason: signedWith(`text that includes “${SECRET_PREFIX}”`) },
  ];
  return keys.filter((key) => key !== undefined);
}

interface OtherBody {
  /** Completes "As … the body matches". */
  readonly name: string;
  readonly parts: readonly Uint8Array[];
}

/** Longer bodies are not written again, because each form costs time. */
const MAX_REWRITTEN_BYTES = 256 * 1024;

/** Bodies that can have been signed, if a program changed the body on its way. */
function* otherBodies(body: Uint8Array): Generator<OtherBody> {
  if (body.length === 0) return;
  const text = Buffer.from(body.buffer, body.byteOffset, body.length);
  yield { name: 'an empty body', parts: [] };
  if (text.at(-1) === LINE_FEED) {
    const end = text.at(-2) === CARRIAGE_RETURN ? -2 : -1;
    yield { name: 'text without the last line break', parts: [text.subarray(0, end)] };
  } else yield { name: 'text with a line break at its end', parts: [text, Buffer.of(LINE_FEED)] };
  if (text.length > MAX_REWRITTEN_BYTES) return;
  if (text.includes('\r\n'))
    yield {
      name: 'text with LF line ends',
      parts: [Buffer.from(text.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')],
    };
  yield* jsonLayouts(text.toString('utf8'));
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** How API keys and access tokens begin, which users confuse with the secret. */
const ACCESS_TOKENS: Partial<Record<SigningScheme, RegExp>> = {
  github: /^(?:gh[a-z]_|github_pat_)/,
  shopify: /^shp(?:at|ca|pa)_/,
  slack: /^(?:xox[a-z]-|xapp-)/,
};

/** A sentence for a signature that no single mistake explains. */
function likelyReason({ signing: { scheme, secret }, body }: Mismatch, { sender }: Scheme): string {
  if (ACCESS_TOKENS[scheme]?.test(secret.trim())) return REASONS.accessToken(sender);
  if (scheme === 'shopify') return REASONS.shopifySecrets();
  if (scheme === 'stripe') {
    if (/^(sk|rk|pk)_/.test(secret.trim())) return REASONS.apiKey();
    const mode = stripeMode(body);
    if (mode !== undefined) return REASONS.otherMode(mode);
  }
  return REASONS.unexplained();
}

/** The mode of a Stripe event, by `livemode` in its body. Stripe sends it in the first lines or the last. */
function stripeMode(body: Uint8Array): 'live' | 'test' | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, MAX_REWRITTEN_BYTES)).toString('latin1');
  const mode = /"livemode"\s*:\s*(true|false)/.exec(text)?.[1];
  return mode === undefined ? undefined : mode === 'true' ? 'live' : 'test';
}

/** Deeper JSON would grow with the square of its depth when it is indented. */
const MAX_DEPTH = 64;
/** Time of a token in a layout, in that of one level of indentation. */
const TOKEN_COST = 16;
/** Allows what senders write in 256 KiB. The same size takes four times as long as short numbers, and longer in deep arrays. */
const MAX_COST = 1_250_000;

/** A string, a punctuation mark, or a number or word. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * The bytes that a body can have had before a program parsed and wrote it again. Numbers and strings keep their
 * spelling in the first layouts; the last ones spell them as common serializers do. Empty if the body is not JSON.
 */
function* jsonLayouts(text: string): Generator<OtherBody> {
  const serialized = serializeAgain(text);
  if (serialized === undefined) return;
  const escaped = serialized.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const spellings = [
    { spelling: text, suffix: '' },
    { spelling: serialized, suffix: ' of JSON.stringify' },
    { spelling: escaped, suffix: ' with \\u escapes' },
    { spelling: escaped.replaceAll('/', '\\/'), suffix: ' with \\u and \\/ escapes' },
  ];
  for (const { spelling, suffix } of spellings) {
    const tokens = spelling.match(TOKEN) ?? [];
    yield layout(`compact JSON${suffix}`, tokens.join(''));
    yield layout(`JSON on one line with spaces${suffix}`, spaced(tokens));
    yield layout(`pretty-printed JSON${suffix} (2 spaces)`, indented(tokens, '  '));
    yield layout(`pretty-printed JSON${suffix} (4 spaces)`, indented(tokens, '    '));
    yield layout(`pretty-printed JSON${suffix} (tabs)`, indented(tokens, '\t'));
  }
}

function layout(name: string, text: string): OtherBody {
  return { name, parts: [Buffer.from(text, 'utf8')] };
}

/** `undefined` if the text is not JSON, or its layouts would take too long. */
function serializeAgain(text: string): string | undefined {
  // First, because `TOKEN` takes quadratic time for a string without an end.
  const value = parseJson(text);
  if (value === undefined) return undefined;
  let depth = 0;
  let cost = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    cost += TOKEN_COST + depth;
    if (depth > MAX_DEPTH || cost > MAX_COST) return undefined;
  }
  return JSON.stringify(value);
}

/** With a space after each comma and colon, as Python's `json.dumps` writes it. */
function spaced(tokens: readonly string[]): string {
  return tokens.map((token) => (token === ',' || token === ':' ? `${token} ` : token)).join('');
}

/** With line breaks, as `JSON.stringify` writes it. Empty objects and arrays stay on one line. */
function indented(tokens: readonly string[], indent: string): string {
  let depth = 0;
  const line = (): string => `\n${indent.repeat(depth)}`;
  return tokens
    .map((token, at) => {
      if (token === '{' || token === '[') {
        depth += 1;
        return isClosing(tokens[at + 1]) ? token : token + line();
      }
      if (isClosing(token)) {
        depth -= 1;
        const before = tokens[at - 1];
        return before === '{' || before === '[' ? token : line() + token;
      }
      if (token === ',') return token + line();
      return token === ':' ? ': ' : token;
    })
    .join('');
}

function isClosing(token: string | undefined): boolean {
  return token === '}' || token === ']';
}
