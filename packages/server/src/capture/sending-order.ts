import type { Socket } from 'node:net';

interface Held {
  /** Requests that are not there whole yet, or whose endpoint is being looked up. */
  count: number;
  /** What was sent behind them. */
  behind: (() => void)[];
}

/**
 * Lets the requests of one connection be captured in the order in which they were sent (hardening D1). The parser tells of a request
 * when its head is there; without this, one without a body would overtake the one in front of it, whose body is still being read.
 */
export class SendingOrder {
  readonly #held = new WeakMap<Socket, Held>();

  /** Holds back what stands behind on this connection, until what is returned is called, once. */
  hold(socket: Socket): () => void {
    const held = this.#held.get(socket) ?? { count: 0, behind: [] };
    this.#held.set(socket, held);
    held.count += 1;
    return () => {
      held.count -= 1;
      if (held.count === 0) this.#letOn(socket, held);
    };
  }

  /** True when the connection is held: `begin` is called later. */
  keepsBack(socket: Socket, begin: () => void): boolean {
    const held = this.#held.get(socket);
    held?.behind.push(begin);
    return held !== undefined;
  }

  /** One after the other, until one of them holds the connection again. */
  #letOn(socket: Socket, { behind }: Held): void {
    this.#held.delete(socket);
    for (let at = 0; at < behind.length; at += 1) {
      behind[at]?.();
      const heldAgain = this.#held.get(socket);
      if (heldAgain === undefined) continue;
      heldAgain.behind = behind.slice(at + 1);
      return;
    }
  }
}
