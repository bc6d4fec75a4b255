import type { UserRecord } from '../../database/records.ts';
import { KNOWN_BROWSER } from '../../http/cookies.ts';
import { SealedText } from '../../secrets.ts';

/** Maximum number of users that share a browser. */
const MAX_USERS = 5;

/**
 * Cookies that record which users have logged in from a browser, so that other clients' guesses never lock them out
 * (OWASP: device cookies). Nothing is stored: each entry has the user's id and an empty sealed text. Its key depends on
 * the user's password, so a new password invalidates all of them.
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
    const own = `${user.id}.${this.#sealFor(user).seal('', KNOWN_BROWSER.maxAgeS * 1000)}`;
    return [own, ...others.slice(0, MAX_USERS - 1)].join('~');
  }

  /** Whether the user has logged in from the browser with the current password. */
  isKnown(user: UserRecord, cookie: string | undefined): boolean {
    const own = entriesOf(cookie).find((entry) => entry.startsWith(`${user.id}.`));
    return own !== undefined && this.#sealFor(user).open(own.slice(`${user.id}.`.length)) !== undefined;
  }

  #sealFor({ id, passwordHash }: UserRecord): SealedText {
    return new SealedText(this.#secret, `known browser of user ${id}:${passwordHash ?? ''}`, this.#now);
  }
}

function entriesOf(cookie: string | undefined): string[] {
  return cookie === undefined || cookie === '' ? [] : cookie.split('~').slice(0, MAX_USERS);
}
