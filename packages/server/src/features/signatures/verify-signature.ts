import type { RawHeaders, Signature, SigningSecret } from '@creel/contract';
import { suggestScheme } from '@creel/contract';
import { explainMismatch } from './explain-mismatch.ts';
import { headerFinder, hmac, schemeOf } from './schemes.ts';
import type { Scheme, UnreadableSignature } from './schemes.ts';

/** Seconds between signing and capture that receivers accept, as the senders' own libraries do. */
const TOLERANCE_SECONDS = 300;

export interface SignedRequest {
  readonly headers: RawHeaders;
  /** The exact bytes as received. */
  readonly body: Uint8Array;
  /** Time of capture, in milliseconds since 1970. */
  readonly receivedAt: number;
}

/** Checks the signature of a captured request as its receiver would have done at the time of capture. */
export async function verifySignature(signing: SigningSecret, request: SignedRequest): Promise<Signature> {
  const { headers, body, receivedAt } = request;
  const { scheme: name } = signing;
  const scheme = schemeOf(signing);
  const received = scheme.read(headerFinder(headers));
  if ('verdict' in received) return { scheme: name, ...withSuggestion(received, signing, headers) };
  const expected = await hmac('sha256', scheme.toKey(signing.secret), received.signedBefore, body);
  // Not compared in constant time: only the owner of the secret sees the result.
  const isMatch = received.signatures.includes(expected.toString(scheme.encoding));
  const reason = isMatch
    ? explainTime(scheme, received.signedAt, receivedAt)
    : await explainMismatch({ signing, received, body, expected });
  return { scheme: name, verdict: reason === null ? 'valid' : 'invalid', reason };
}

/** Adds the scheme that the request seems to be signed with, if its signature is missing. */
function withSuggestion(
  { verdict, reason }: UnreadableSignature,
  { scheme }: SigningSecret,
  headers: RawHeaders,
): UnreadableSignature {
  const suggested = verdict === 'missing' ? suggestScheme(headers) : undefined;
  if (suggested === undefined || (suggested.scheme === scheme && scheme !== 'hmac-sha256')) return { verdict, reason };
  const where = suggested.header === undefined ? '' : ` in the header ${suggested.header}`;
  return { verdict, reason: `${reason} It seems to be signed with the scheme ${suggested.scheme}${where}.` };
}

/** Says why receivers reject the time of signing. `null` if they accept it. */
function explainTime({ rejectsFuture }: Scheme, signedAt: number | undefined, receivedAt: number): string | null {
  if (signedAt === undefined) return null;
  const age = Math.floor(receivedAt / 1000) - signedAt;
  if (age > TOLERANCE_SECONDS)
    return `The signature matches, but its timestamp is ${duration(age)} older than the capture, ${duration(age - TOLERANCE_SECONDS)} too old. Receivers accept at most 5 minutes.`;
  if (rejectsFuture && -age > TOLERANCE_SECONDS)
    return `The signature matches, but its timestamp is ${duration(-age)} after the capture. Check the clock of the sender: receivers accept at most 5 minutes.`;
  return null;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Whole units, in minutes up to two hours and at least 1. */
function duration(seconds: number): string {
  const [name, length] = UNITS.find(([, unit]) => seconds >= 2 * unit) ?? UNITS[2];
  const count = Math.max(1, Math.floor(seconds / length));
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
