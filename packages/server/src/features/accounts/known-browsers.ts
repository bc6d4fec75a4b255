import { KNOWN_BROWSER_DAYS } from '../../http/cookies.ts';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { UserRecord } from '../../database/records.ts';

const DAY_MS = 24 * 3_600_000;
/** Maximum number of users that share a browser. */
const MAX_USERS = 5;

/**
 * Cookies that record which users have logged in from a browser, so that other clients' guesses never lock them out
 * (OWASP: device cookies). Nothing is stored: each entry is signed with a key that depends on the user's password, so a
 * new password invalidates all of them.
 */
export class KnownBrowsers {
  readonly #secret: string;
  readonly #now: () => number;

  constructor(secret: string, now: () => number) {
    this.#secret = secret;
    this.#now = now;
  }

  /** The cookie for a browser in which the user has just logged in. Keeps the entries of other users. */
  remember(user: UserRecord, cookie: string | undefined): string {
    const others = entriesOf(cookie).filter((entry) => !entry.startsWith(`${user.id}.`));
    const text = `${user.id}.${this.#now()}.${randomBytes(12).toString('base64url')}`;
    return [`${text}.${this.#sign(user, text)}`, ...others.slice(0, MAX_USERS - 1)].join('~');
  }

  /** Whether the user has logged in from the browser with the current password. */
  isKnown(user: UserRecord, cookie: string | undefined): boolean {
    const entry = entriesOf(cookie).find((one) => one.startsWith(`${user.id}.`));
    if (entry === undefined) return false;
    const [id = '', issuedAt = '', nonce = '', signature = ''] = entry.split('.');
    const expected = Buffer.from(this.#sign(user, `${id}.${issuedAt}.${nonce}`));
    const actual = Buffer.from(signature);
    if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return false;
    return this.#now() - Number(issuedAt) < KNOWN_BROWSER_DAYS * DAY_MS;
  }

  #sign(user: UserRecord, text: string): string {
    const key = createHmac('sha256', this.#secret)
      .update(`known browser:${user.passwordHash ?? ''}`)
      .digest();
    return createHmac('sha256', key).update(text).digest('base64url');
  }
}

function entriesOf(cookie: string | undefined): string[] {
  return cookie === undefined || cookie === '' ? [] : cookie.split('~').slice(0, MAX_USERS);
}
