import { storedSigningSecretSchema, suggestScheme } from '@creel/contract';
import type { RawHeaders, Signature, SigningSecret } from '@creel/contract';
import type { Remote } from '../../database/remote.ts';
import { decodeHead } from '../../database/stored-request.ts';
import type { RequestRecord } from '../../database/stored-request.ts';
import type { EndpointRecord } from '../../database/records.ts';
import { ProblemError } from '../../http/problem.ts';
import type { Logger } from '../../log.ts';
import { FairQueue } from '../../limits/fair-queue.ts';
import { SealedText, randomToken } from '../../secrets.ts';
import type { accountQueries } from '../accounts/queries.ts';
import type { signatureQueries } from './queries.ts';
import { headerFinder, hmac, schemeOf } from './schemes.ts';
import type { Scheme, UnreadableSignature } from './schemes.ts';
import { explainMismatch } from './explain-mismatch.ts';
import type { Mismatch } from './explain-mismatch.ts';
import { REASONS } from './reasons.ts';

type SignatureQueries = Remote<typeof signatureQueries>;

const WITHOUT_KEY =
  "The signing secrets of endpoints can't be decrypted: the table secrets has another key. Restore the whole backup, or set the signing secrets again.";

type SignedEndpoint = Pick<EndpointRecord, 'id' | 'signingScheme'>;

/** Explanations of one user that wait for the previous one, which may take a second. */
const MAX_WAITING = 100;

export const WITHOUT_SECRET = 'This endpoint has no signing secret. Set one first.';

/** Returns the headers with a signature of these bytes and the current time. */
export type Sign = (headers: RawHeaders, body: Uint8Array) => Promise<RawHeaders>;

/** Signing secrets of endpoints, encrypted in the database: checks and renews signatures with them. */
export class Signatures {
  readonly #queries: SignatureQueries;
  readonly #masterSecret: string;
  readonly #now: () => number;
  readonly #explanations = new FairQueue({ concurrencyPerOwner: 1, maxWaitingPerOwner: MAX_WAITING });

  constructor(queries: SignatureQueries, masterSecret: string, now: () => number) {
    this.#queries = queries;
    this.#masterSecret = masterSecret;
    this.#now = now;
  }

  /** Sets or replaces the secret of an endpoint. @throws ProblemError ENDPOINT_NOT_FOUND */
  async setSecret(endpointId: number, signing: SigningSecret): Promise<void> {
    const sealed = this.#sealFor(endpointId).seal(JSON.stringify(signing));
    if (!(await this.#queries.setSigningSecret(endpointId, signing.scheme, sealed)))
      throw new ProblemError('ENDPOINT_NOT_FOUND');
  }

  /**
   * Checks the signature of a stored request with its whole body. `null` if the endpoint has no secret. `signal` aborts
   * when no client waits any more. @throws QueueFullError; the signal's reason
   */
  async verify(
    endpoint: SignedEndpoint & Pick<EndpointRecord, 'userId'>,
    record: RequestRecord,
    signal: AbortSignal,
  ): Promise<Signature | null> {
    const signing = await this.#findSecret(endpoint);
    if (signing === undefined) return null;
    const { rawHeaders: headers } = decodeHead(record.head);
    const { body, receivedAt, size, index } = record;
    const explain = async ({ body: _, ...mismatch }: Mismatch): Promise<string> => {
      const work = () => this.#queries.explainStored(endpoint.id, { index, size }, mismatch);
      return (await this.#explanations.run(endpoint.userId, work, signal)) ?? REASONS.unexplained();
    };
    return verifySignature(signing, { headers, body: body ?? Buffer.alloc(0), receivedAt }, explain);
  }

  /** Returns a function that signs with the secret of an endpoint, or `undefined` if it has none. */
  async signerOf(endpoint: SignedEndpoint): Promise<Sign | undefined> {
    const signing = await this.#findSecret(endpoint);
    return signing && ((headers, body) => renewSignature(signing, { headers, body, now: this.#now() }));
  }

  /** Also `undefined` for a secret that was sealed by another installation. */
  async #findSecret({ id, signingScheme }: SignedEndpoint): Promise<SigningSecret | undefined> {
    if (signingScheme === null) return undefined;
    const sealed = await this.#queries.findSigningSecret(id);
    const text = sealed === undefined ? undefined : this.#sealFor(id).open(sealed);
    return text === undefined ? undefined : storedSigningSecretSchema.parse(JSON.parse(text));
  }

  /** False if the stored secrets were sealed with another master secret. */
  async canOpen(): Promise<boolean> {
    const found = await this.#queries.findAnySigningSecret();
    return found === undefined || this.#sealFor(found.endpointId).open(found.sealed) !== undefined;
  }

  /** A key for each endpoint, so that a sealed secret can't be moved to another one. */
  #sealFor(endpointId: number): SealedText {
    return new SealedText(this.#masterSecret, `signing secret of endpoint ${endpointId}`, this.#now);
  }
}

/** The generated master secret is stored in the database, so that every process can open what another one sealed. */
export async function createSignatures(
  store: SignatureQueries & Pick<Remote<typeof accountQueries>, 'findOrCreateSecret'>,
  log: Pick<Logger, 'error'>,
  now: () => number,
): Promise<Signatures> {
  const masterSecret = await store.findOrCreateSecret('signatures', randomToken());
  const signatures = new Signatures(store, masterSecret, now);
  if (!(await signatures.canOpen())) log.error(WITHOUT_KEY);
  return signatures;
}

interface UnsignedRequest {
  readonly headers: RawHeaders;
  /** The exact bytes that will be sent. */
  readonly body: Uint8Array;
  /** Milliseconds since 1970, for the timestamp. */
  readonly now: number;
}

/** Returns the headers with a new timestamp and signature. Other headers keep their order, case and repeats. */
export async function renewSignature(
  signing: SigningSecret,
  { headers, body, now }: UnsignedRequest,
): Promise<RawHeaders> {
  const scheme = schemeOf(signing);
  const key = scheme.toKey(signing.secret);
  const renewed = await scheme.renew({
    seconds: Math.floor(now / 1000),
    find: headerFinder(headers),
    sign: async (signedBefore, algorithm = 'sha256') =>
      (await hmac(algorithm, key, signedBefore, body)).toString(scheme.encoding),
  });
  return renewed.reduce<RawHeaders>(withHeader, headers);
}

/** Replaces the first header of this name and removes its repeats, or adds the header at the end. */
function withHeader(headers: RawHeaders, [name, value]: readonly [string, string]): RawHeaders {
  const isSame = ([given]: readonly [string, string]): boolean => given.toLowerCase() === name.toLowerCase();
  const first = headers.findIndex(isSame);
  if (first < 0) return [...headers, [name, value]];
  return headers.flatMap((header, at): RawHeaders => {
    if (at === first) return [[header[0], value]];
    return isSame(header) ? [] : [header];
  });
}

const DAY_MS = 86_400_000;

/** Seconds between signing and capture that receivers accept, as the senders' own libraries do. */
const TOLERANCE_SECONDS = 300;

interface SignedRequest {
  readonly headers: RawHeaders;
  /** The exact bytes as received. */
  readonly body: Uint8Array;
  /** Time of capture, in milliseconds since 1970. */
  readonly receivedAt: number;
}

/** Checks a signature as the receiver would have at the time of capture. `explain` says why it does not match. */
export async function verifySignature(
  signing: SigningSecret,
  request: SignedRequest,
  explain: typeof explainMismatch = explainMismatch,
): Promise<Signature> {
  const { headers, body, receivedAt } = request;
  const { scheme: name } = signing;
  const scheme = schemeOf(signing);
  const received = scheme.read(headerFinder(headers));
  const sign = (signedBefore: string) => hmac('sha256', scheme.toKey(signing.secret), signedBefore, body);
  const repeated = () => explainRepeats(scheme, headers, sign);
  if ('verdict' in received) {
    const reason = await repeated();
    const unreadable = reason === undefined ? received : { verdict: 'invalid' as const, reason };
    return { scheme: name, ...withSuggestion(unreadable, signing, headers) };
  }
  const expected = await sign(received.signedBefore);
  // Not compared in constant time: only the owner of the secret sees the result.
  const isMatch = received.signatures.includes(expected.toString(scheme.encoding));
  const reason = isMatch
    ? explainTime(scheme, received.signedAt, receivedAt)
    : ((await repeated()) ?? (await explain({ signing, received, body, expected })));
  return { scheme: name, verdict: reason === null ? 'valid' : 'invalid', reason };
}

/** Says which one of a repeated header matches alone: the first or the last. `undefined` if neither does. */
async function explainRepeats(
  { read, encoding }: Scheme,
  headers: RawHeaders,
  sign: (signedBefore: string) => Promise<Buffer>,
): Promise<string | undefined> {
  const orders = { first: headers.toReversed(), last: headers };
  for (const which of ['first', 'last'] as const) {
    const values = new Map(orders[which].map(([name, value]) => [name.toLowerCase(), value]));
    const repeated: string[] = [];
    const received = read((name) => {
      const lower = name.toLowerCase();
      if (headers.filter(([other]) => other.toLowerCase() === lower).length > 1) repeated.push(name);
      return values.get(lower);
    });
    const [header] = repeated;
    if (header === undefined) return undefined;
    if ('verdict' in received) continue;
    if (received.signatures.includes((await sign(received.signedBefore)).toString(encoding)))
      return REASONS.repeatedHeader(header, which);
  }
  return undefined;
}

/** Adds the scheme that the request seems to be signed with, if its signature is missing. */
function withSuggestion({ verdict, reason }: UnreadableSignature, { scheme }: SigningSecret, headers: RawHeaders) {
  const suggested = verdict === 'missing' ? suggestScheme(headers) : undefined;
  if (suggested === undefined || (suggested.scheme === scheme && scheme !== 'hmac-sha256')) return { verdict, reason };
  const hint =
    suggested.header === undefined
      ? REASONS.otherScheme(schemeOf({ ...suggested, secret: '' }).sender)
      : REASONS.otherHeader(suggested.header);
  return { verdict, reason: `${reason} ${hint}` };
}

/** Says why receivers reject the time of signing. `null` if they accept it. */
function explainTime({ rejectsFuture }: Scheme, signedAt: number | undefined, receivedAt: number): string | null {
  if (signedAt === undefined) return null;
  if (rejectsFuture && Math.abs(receivedAt - signedAt) < DAY_MS) return REASONS.inMilliseconds();
  const age = Math.floor(receivedAt / 1000) - signedAt;
  if (age > TOLERANCE_SECONDS) return REASONS.tooOld(duration(age));
  if (rejectsFuture && -age > TOLERANCE_SECONDS) return REASONS.tooNew(duration(-age));
  return null;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** The two largest units, such as `5 minutes and 1 second`. With one, a time just over a limit would look equal to it. */
function duration(seconds: number): string {
  let left = seconds;
  const counts = UNITS.map(([name, length]): [number, string] => {
    const count = Math.floor(left / length);
    left -= count * length;
    return [count, name];
  });
  const first = counts.findIndex(([count]) => count > 0);
  return counts
    .slice(first, first + 2)
    .flatMap(([count, name]) => (count === 0 ? [] : [`${count} ${name}${count === 1 ? '' : 's'}`]))
    .join(' and ');
}
