import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Argon2Parameters } from 'node:crypto';
import { availableParallelism } from 'node:os';

/** OWASP's minimum for Argon2id: 19 MiB, two passes, one lane. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const TAG_BYTES = 32;
const SALT_BYTES = 16;

/** How many hashes run at once: each takes 19 MiB and a core of its own; the others wait. Half of the cores stay with captures. */
const AT_ONCE = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
/** How many may wait before new ones are turned away. */
const MOST_WAITING = 500;

/** Too many sign-ins at once; the caller answers 503. */
export class PasswordsBusy extends Error {
  override readonly name = 'PasswordsBusy';
}

let running = 0;
const waiting: (() => void)[] = [];

async function withSlot<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= MOST_WAITING) throw new PasswordsBusy();
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

function derive(parameters: Argon2Parameters): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, tag) => (error === null ? resolve(Buffer.from(tag)) : reject(error)));
  });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

/** Hashes a password on a pool thread, as Argon2id in PHC notation. @throws PasswordsBusy */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const tag = await withSlot(() =>
    derive({
      message: Buffer.from(password, 'utf8'),
      nonce,
      parallelism: LANES,
      tagLength: TAG_BYTES,
      memory: MEMORY_KIB,
      passes: PASSES,
    }),
  );
  return `${TODAY}${base64(nonce)}$${base64(tag)}`;
}

/** How a hash with today's parameters begins. */
const TODAY = `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$`;

/** What a name without an account is checked against, so that the answer takes as long (contract 4). */
const NOBODY = `${TODAY}${base64(Buffer.alloc(SALT_BYTES))}$${base64(Buffer.alloc(TAG_BYTES))}`;

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** What goes with a check, while its slot is held. */
export interface CheckSteps {
  /** Right before the work begins; what it throws ends the check. */
  readonly before: () => Promise<void>;
  readonly after: (right: boolean) => Promise<void>;
}

/** Whether a password belongs to a hash. Takes as long without a hash as with one. @throws PasswordsBusy */
export async function verifyPassword(
  password: string,
  hash: string | null | undefined,
  steps?: CheckSteps,
): Promise<boolean> {
  const parts = PHC.exec(hash ?? NOBODY);
  if (parts === null) throw new Error('The stored password hash is not Argon2id in PHC notation.');
  const [, memory, passes, parallelism, salt = '', tag = ''] = parts;
  const expected = Buffer.from(tag, 'base64');
  return withSlot(async () => {
    await steps?.before();
    const actual = await derive({
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

/** True when a hash was made with other parameters than today's and should be made anew at the next sign-in. */
export function isOutdated(hash: string): boolean {
  return !hash.startsWith(TODAY);
}
