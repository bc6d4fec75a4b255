import type { Socket } from 'node:net';
import process from 'node:process';
import { normalAddress } from './client-address.ts';
import { FlowQueue } from '../limits/fair-queue.ts';

/**
 * Milliseconds of work per turn of the event loop; the last piece may exceed them. When the rest of a turn is long,
 * because a thousand clients connect, work gets half as much as the rest takes.
 */
const MIN_TURN_MS = 1;
const MAX_TURN_MS = 2;
const SHARE_OF_REST = 1 / 2;
/** One of this many pieces of work is a read, even if calls wait. */
const READ_EVERY = 4;
/** The most bytes that Node reads from a socket at once. After that many, more is probably waiting. */
export const FULL_READ_BYTES = 64 * 1024;

/**
 * Maximum owners of turns per client address. With one per connection, an address with a thousand connections would
 * delay all others. With one per address, the calls of a proxy would get as few turns as a single client. A prime,
 * because systems assign every other port.
 */
const TURNS_PER_ADDRESS = 31;

/** The turn that a connection shares with others of its address. */
export function turnOwner({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${normalAddress(remoteAddress)} ${remotePort % TURNS_PER_ADDRESS}`;
}

/**
 * Starts pieces of work for one or two milliseconds per turn of the event loop, with owners taking turns. Captures that
 * arrive are read in between, and owners with little work do not wait for busy ones. When nothing waits, work starts at
 * once.
 */
export class LoopTurns {
  readonly #waiting = new FlowQueue<object | string, () => void>();
  /** A separate queue for reads, because a thousand connections that send ahead always have more to read. */
  readonly #reads = new FlowQueue<object | string, () => void>();
  #pieces = 0;
  /** Milliseconds of a monotonic clock. */
  readonly #elapsed: () => number;
  #isFree = true;
  /** When the work of the last turn ended, and when that of this turn has to end. */
  #endedAt = 0;
  #until = 0;

  constructor(elapsed = () => performance.now()) {
    this.#elapsed = elapsed;
  }

  /** Runs `work` now or in a later turn. All work of one `owner`, such as a `turnOwner`, shares its turns. */
  run(owner: object | string, work: () => void): void {
    if (this.#isFree) this.#start(work);
    else this.#waiting.push(owner, work);
  }

  /**
   * Like `run`, for a connection that has sent more than it may do in one turn. Calls that are complete go before it,
   * except that every fourth piece of work is a read.
   */
  runRead(owner: object | string, read: () => void): void {
    if (this.#isFree) this.#start(read);
    else this.#reads.push(owner, read);
  }

  #start(work: () => void): void {
    this.#isFree = false;
    setImmediate(this.#next);
    work();
  }

  readonly #next = (): void => {
    if (this.#waiting.size + this.#reads.size === 0) {
      this.#isFree = true;
      return;
    }
    setImmediate(this.#next);
    const now = this.#elapsed();
    const share = (now - this.#endedAt) * SHARE_OF_REST;
    this.#until = now + Math.min(MAX_TURN_MS, Math.max(MIN_TURN_MS, share));
    this.#step();
  };

  #shift(): (() => void) | undefined {
    this.#pieces += 1;
    if (this.#pieces % READ_EVERY === 0) return this.#reads.shift() ?? this.#waiting.shift();
    return this.#waiting.shift() ?? this.#reads.shift();
  }

  #step(): void {
    const work = this.#shift();
    if (work === undefined) return;
    // A socket that is resumed delivers its data in the next tick, and calls continue after promises. Both count.
    queueAfterEffects(() => {
      this.#endedAt = this.#elapsed();
      if (this.#endedAt < this.#until) this.#step();
    });
    work();
  }
}

/** After the ticks that the current code is about to queue, and the promises that they wait for. */
function queueAfterEffects(callback: () => void): void {
  // Promises continue when no tick is queued, so ticks alone would run before them.
  process.nextTick(() => queueMicrotask(() => process.nextTick(callback)));
}
