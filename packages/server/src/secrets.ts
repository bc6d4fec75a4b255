import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Takes the place of the end time. */
const FOREVER = 'forever';

/** 256 random bits as 43 characters that are safe in cookies and links. */
export function randomToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** The SHA-256 of a token, for the database. 256 random bits need no salt. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** AES-256-GCM with a key per purpose. The browser or database that keeps the text can't read or change it. */
export class SealedText {
  readonly #key: Buffer;
  readonly #now: () => number;

  constructor(secret: string, purpose: string, now: () => number) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
    this.#now = now;
  }

  /** Encrypts a text that can be opened for `holdsMs` milliseconds, by default without an end. */
  seal(text: string, holdsMs?: number): string {
    const until = holdsMs === undefined ? FOREVER : String(this.#now() + holdsMs);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    const sealed = Buffer.concat([cipher.update(`${until} ${text}`, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** The text; `undefined` when it was not sealed here, was changed, or has expired. */
  open(sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const open = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      const [, until = '', text = ''] = /^(\d+|forever) (.*)$/s.exec(open.toString('utf8')) ?? [];
      return until === FOREVER || this.#now() < Number(until) ? text : undefined;
    } catch {
      return undefined;
    }
  }
}
