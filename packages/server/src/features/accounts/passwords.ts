import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Argon2Parameters } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { FairQueue } from '../../limits/fair-queue.ts';

/** The cost of a hash: KiB of memory and number of passes. */
interface PasswordCost {
  readonly memoryKib: number;
  readonly passes: number;
}

/** OWASP's minimum for Argon2id with one lane (cheatsheetseries.owasp.org, "Password Storage"). */
const OWASP_COST: PasswordCost = { memoryKib: 19_456, passes: 2 };
const LANES = 1;
const TAG_BYTES = 32;
const SALT_BYTES = 16;

/** Each hash takes 19 MiB and a core for 25 ms. Half of the cores stay free for other work. */
export const HASH_CONCURRENCY = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));
/** Maximum number of waiting hashes. One address or account may have half of them. */
const MAX_WAITING = 1000;

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** What the caller does around the check of a password. */
export interface CheckSteps {
  /** Called after a check had to wait, before its work starts. If it throws, the check ends. */
  readonly afterWaiting: () => Promise<void>;
  /** Called with the result, while the check still has its turn. */
  readonly after: (right: boolean) => Promise<void>;
}

/** The caller that waits for a hash. */
export interface HashOptions {
  /** The client address or account that shares one place in the queue. */
  readonly owner: string;
  /** Aborted when the caller no longer waits for the result. */
  readonly signal?: AbortSignal | undefined;
}

const argon2id: (algorithm: 'argon2id', parameters: Argon2Parameters) => Promise<Uint8Array> = promisify(argon2);

function derive(password: string, parameters: Omit<Argon2Parameters, 'message'>): Promise<Uint8Array> {
  return argon2id('argon2id', { ...parameters, message: Buffer.from(password, 'utf8') });
}

/** Argon2id password hashes in PHC notation, with limited concurrency. */
export class Passwords {
  readonly #cost: PasswordCost;
  /** The prefix of a hash with the current cost. */
  readonly #currentPrefix: string;
  /** The hash to check for an unknown username, so that the response takes as long. */
  readonly #unknownUserHash: string;
  readonly #queue = new FairQueue({
    concurrency: HASH_CONCURRENCY,
    maxWaiting: MAX_WAITING,
    maxWaitingPerOwner: MAX_WAITING / 2,
  });

  constructor(cost: PasswordCost = OWASP_COST) {
    this.#cost = cost;
    this.#currentPrefix = `$argon2id$v=19$m=${cost.memoryKib},t=${cost.passes},p=${LANES}$`;
    this.#unknownUserHash = `${this.#currentPrefix}${base64(Buffer.alloc(SALT_BYTES))}$${base64(Buffer.alloc(TAG_BYTES))}`;
  }

  get waitingCount(): number {
    return this.#queue.waitingCount;
  }

  /** @throws QueueFullError; the signal's reason */
  async hash(password: string, { owner, signal }: HashOptions): Promise<string> {
    const nonce = randomBytes(SALT_BYTES);
    const { memoryKib: memory, passes } = this.#cost;
    const parameters = { nonce, parallelism: LANES, tagLength: TAG_BYTES, memory, passes };
    const tag = await this.#queue.run(owner, () => derive(password, parameters), signal);
    return `${this.#currentPrefix}${base64(nonce)}$${base64(tag)}`;
  }

  /** Whether a password matches. Takes the same time without a hash. @throws QueueFullError; the signal's reason */
  async verify(
    password: string,
    hash: string | null | undefined,
    { owner, signal }: HashOptions,
    steps?: CheckSteps,
  ): Promise<boolean> {
    const parts = PHC.exec(hash ?? this.#unknownUserHash);
    if (parts === null) throw new Error('The stored password hash is not Argon2id in PHC notation.');
    const [, memory, passes, parallelism, salt = '', tag = ''] = parts;
    const expected = Buffer.from(tag, 'base64');
    const check = async (waited: boolean): Promise<boolean> => {
      if (waited) await steps?.afterWaiting();
      const actual = await derive(password, {
        nonce: Buffer.from(salt, 'base64'),
        parallelism: Number(parallelism),
        tagLength: expected.length,
        memory: Number(memory),
        passes: Number(passes),
      });
      const right = timingSafeEqual(actual, expected) && typeof hash === 'string';
      await steps?.after(right);
      return right;
    };
    return this.#queue.run(owner, check, signal);
  }

  /** True when a hash has another cost than the current one and should be replaced at the next login. */
  isOutdated(hash: string): boolean {
    return !hash.startsWith(this.#currentPrefix);
  }
}
