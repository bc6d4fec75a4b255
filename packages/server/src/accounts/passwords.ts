import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Line } from '../line.ts';
import { deriveInPool, HASHES_AT_ONCE } from './hash-threads.ts';
import type { Derive } from './hash-threads.ts';

/** What a hash costs: KiB of memory, and how often they are gone through. */
interface PasswordCost {
  readonly memoryKib: number;
  readonly passes: number;
}

/** OWASP's minimum for Argon2id with one lane (hardening A1). */
const OWASP_COST: PasswordCost = { memoryKib: 19_456, passes: 2 };
const LANES = 1;
const TAG_BYTES = 32;
const SALT_BYTES = 16;

/** How many may wait before new ones are turned away. */
const MOST_WAITING = 500;

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** What goes with a check, while it is the check's turn. */
export interface CheckSteps {
  /** When it had to wait for its turn, right before the work begins; what it throws ends the check. */
  readonly afterWaiting: () => Promise<void>;
  readonly after: (right: boolean) => Promise<void>;
}

export interface PasswordOptions {
  /** OWASP's minimum unless given. */
  readonly cost?: PasswordCost;
  /** libuv's threads unless given. */
  readonly derive?: Derive;
  /** How many captures there have been: a crowd that signs in steps back for them. */
  readonly captures?: () => number;
}

/** Passwords as Argon2id in PHC notation, hashed a few at once. */
export class Passwords {
  readonly #cost: PasswordCost;
  /** How a hash of today's cost begins. */
  readonly #today: string;
  /** What a name without an account is checked against, so that the answer takes as long (contract 4). */
  readonly #nobody: string;
  readonly #derive: Derive;
  readonly #line: Line;

  constructor({ cost = OWASP_COST, derive = deriveInPool, captures = () => 0 }: PasswordOptions = {}) {
    this.#cost = cost;
    this.#derive = derive;
    this.#line = new Line({ atOnce: HASHES_AT_ONCE, mostWaiting: MOST_WAITING, captures });
    this.#today = `$argon2id$v=19$m=${cost.memoryKib},t=${cost.passes},p=${LANES}$`;
    this.#nobody = `${this.#today}${base64(Buffer.alloc(SALT_BYTES))}$${base64(Buffer.alloc(TAG_BYTES))}`;
  }

  /** How many stand in line. */
  get waitingCount(): number {
    return this.#line.waitingCount;
  }

  /** `who`: for whom, as far as can be told; nobody waits behind all of somebody else's. @throws LineTooLong */
  async hash(password: string, who: string): Promise<string> {
    const nonce = randomBytes(SALT_BYTES);
    const tag = await this.#line.pass(who, () =>
      this.#derive({
        message: Buffer.from(password, 'utf8'),
        nonce,
        parallelism: LANES,
        tagLength: TAG_BYTES,
        memory: this.#cost.memoryKib,
        passes: this.#cost.passes,
      }),
    );
    return `${this.#today}${base64(nonce)}$${base64(tag)}`;
  }

  /** Whether a password belongs to a hash. Takes as long without a hash as with one. @throws LineTooLong */
  async verify(password: string, hash: string | null | undefined, who: string, steps?: CheckSteps): Promise<boolean> {
    const parts = PHC.exec(hash ?? this.#nobody);
    if (parts === null) throw new Error('The stored password hash is not Argon2id in PHC notation.');
    const [, memory, passes, parallelism, salt = '', tag = ''] = parts;
    const expected = Buffer.from(tag, 'base64');
    return this.#line.pass(who, async (waited) => {
      if (waited) await steps?.afterWaiting();
      const actual = await this.#derive({
        message: Buffer.from(password, 'utf8'),
        nonce: Buffer.from(salt, 'base64'),
        parallelism: Number(parallelism),
        tagLength: expected.length,
        memory: Number(memory),
        passes: Number(passes),
      });
      const right = timingSafeEqual(actual, expected) && typeof hash === 'string';
      await steps?.after(right);
      return right;
    });
  }

  /** True when a hash was made at another cost than today's and should be made anew at the next sign-in. */
  isOutdated(hash: string): boolean {
    return !hash.startsWith(this.#today);
  }
}
