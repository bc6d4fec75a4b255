/**
 * Lets one caller in per turn of the event loop. Two hundred people who sign in at the same moment are read from their sockets in the
 * same turn; if all of their calls began in it, every capture that came in meanwhile would wait for all of them. Through here it waits
 * for one. Where callers come one by one, nobody waits.
 */
export class Turnstile {
  readonly #waiting: (() => void)[] = [];
  #isFree = true;

  /** Calls `begin`, now or in a later turn, in the order of arrival. */
  enter(begin: () => void): void {
    if (!this.#isFree) {
      this.#waiting.push(begin);
      return;
    }
    this.#isFree = false;
    setImmediate(this.#next);
    begin();
  }

  readonly #next = (): void => {
    const begin = this.#waiting.shift();
    if (begin === undefined) {
      this.#isFree = true;
      return;
    }
    setImmediate(this.#next);
    begin();
  };
}
