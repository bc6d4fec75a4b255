import { KNOWN_BROWSER_DAYS } from '../../http/cookies.ts';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { UserRecord } from '../../database/store.ts';

const DAY_MS = 24 * 3_600_000;
/** Browsers keep a cookie for 400 days at most (RFC 6265bis). */
/** People who share a browser. */
const MOST_PEOPLE = 5;

/**
 * Cookies that say which people have signed in from a browser before, so that somebody else's guessing never locks them out
 * (contract 4; OWASP calls them device cookies). Nothing is stored: each entry is signed, with a key that depends on the person's
 * password, so that a new password turns every browser into an unknown one.
 */
export class KnownBrowsers {
  readonly #secret: string;
  readonly #now: () => number;

  constructor(secret: string, now: () => number) {
    this.#secret = secret;
    this.#now = now;
  }

  /** The cookie for a browser where the user has just signed in; other people's entries stay. */
  remember(user: UserRecord, cookie: string | undefined): string {
    const others = entriesOf(cookie).filter((entry) => !entry.startsWith(`${user.id}.`));
    const text = `${user.id}.${this.#now()}.${randomBytes(12).toString('base64url')}`;
    return [`${text}.${this.#sign(user, text)}`, ...others.slice(0, MOST_PEOPLE - 1)].join('~');
  }

  /** Whether the user has signed in from the browser with the present password. */
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
  return cookie === undefined || cookie === '' ? [] : cookie.split('~').slice(0, MOST_PEOPLE);
}
