import { signingSecretSchema } from '@creel/contract';
import type { RawHeaders, Signature, SigningSecret } from '@creel/contract';
import type { Remote } from '../../database/remote.ts';
import { decodeHead } from '../../database/request-head.ts';
import type { EndpointRecord, RequestRecord } from '../../database/store.ts';
import { ProblemError } from '../../http/problem.ts';
import { SealedText, randomToken } from '../../secrets.ts';
import type { accountQueries } from '../accounts/queries.ts';
import type { signatureQueries } from './queries.ts';
import { renewSignature } from './renew-signature.ts';
import { verifySignature } from './verify-signature.ts';

type SignatureQueries = Remote<typeof signatureQueries>;

type SignedEndpoint = Pick<EndpointRecord, 'id' | 'signingScheme'>;

/** The answer to a call that wants to sign for an endpoint without a secret. */
export const WITHOUT_SECRET = 'This endpoint has no signing secret. Set one first.';

/** Returns the headers with a signature of these bytes and the current time. */
export type Sign = (headers: RawHeaders, body: Uint8Array) => Promise<RawHeaders>;

/** Signing secrets of endpoints, encrypted in the database, and what they are for. */
export class Signatures {
  readonly #queries: SignatureQueries;
  readonly #masterSecret: string;
  readonly #now: () => number;

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

  async deleteSecret(endpointId: number): Promise<void> {
    await this.#queries.deleteSigningSecret(endpointId);
  }

  /** Checks the signature of a stored request with its whole body. `null` if the endpoint has no secret. */
  async verify(endpoint: SignedEndpoint, record: RequestRecord): Promise<Signature | null> {
    const signing = await this.#findSecret(endpoint);
    if (signing === undefined) return null;
    const { rawHeaders: headers } = decodeHead(record.head);
    return verifySignature(signing, { headers, body: record.body ?? Buffer.alloc(0), receivedAt: record.receivedAt });
  }

  /** Returns a function that signs with the secret of an endpoint, or `undefined` if it has none. */
  async signerOf(endpoint: SignedEndpoint): Promise<Sign | undefined> {
    const signing = await this.#findSecret(endpoint);
    return signing && ((headers, body) => renewSignature(signing, { headers, body, now: this.#now() }));
  }

  /** `undefined` also for a secret that was sealed by another installation. */
  async #findSecret({ id, signingScheme }: SignedEndpoint): Promise<SigningSecret | undefined> {
    if (signingScheme === null) return undefined;
    const sealed = await this.#queries.findSigningSecret(id);
    const text = sealed === undefined ? undefined : this.#sealFor(id).open(sealed);
    return text === undefined ? undefined : signingSecretSchema.parse(JSON.parse(text));
  }

  /** A key for each endpoint, so that a sealed secret can't be moved to another one. */
  #sealFor(endpointId: number): SealedText {
    return new SealedText(this.#masterSecret, `signing secret of endpoint ${endpointId}`, this.#now);
  }
}

/** The generated master secret is stored in the database, so that every process can open what another one sealed. */
export async function createSignatures(
  store: SignatureQueries & Pick<Remote<typeof accountQueries>, 'keepSecret'>,
  now: () => number,
): Promise<Signatures> {
  const masterSecret = await store.keepSecret('signatures', randomToken());
  return new Signatures(store, masterSecret, now);
}
