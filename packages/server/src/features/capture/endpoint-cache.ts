import type { EndpointStore } from '../../database/store.ts';
import { TokenBucket } from '../../limits/token-bucket.ts';

/** What the capture path knows of an endpoint. */
export interface CachedEndpoint {
  readonly id: number;
  readonly uid: string;
  /** Whose share of memory and of the queue its captures use. */
  readonly userId: number;
  /** Null: never. */
  readonly expiresAt: number | null;
  /** True until a source is known: then each capture is looked at for one. */
  needsSource: boolean;
  readonly bucket: TokenBucket | undefined;
  readonly readAt: number;
}

const MOST_ENTRIES = 10_000;
/** Where other processes change the same database, an entry is fresh for this long. */
const FRESH_MS = 1000;
/** Past that, and up to this age, it still serves while it is read again: a lookup for every sender would cost a third of the rate. */
const MAX_AGE_MS = 1400;

/** Endpoints by uid, looked up once and dropped when they change. */
export class EndpointCache {
  readonly #store: Pick<EndpointStore, 'findEndpoint'> & { readonly shared: boolean };
  readonly #ratePerSecond: number | undefined;
  readonly #now: () => number;
  readonly #entries = new Map<string, CachedEndpoint>();
  readonly #lookups = new Map<string, Promise<CachedEndpoint | undefined>>();

  constructor(
    store: Pick<EndpointStore, 'findEndpoint'> & { readonly shared: boolean },
    ratePerSecond: number | undefined,
    now: () => number,
  ) {
    this.#store = store;
    this.#ratePerSecond = ratePerSecond;
    this.#now = now;
  }

  /** The entry if it is at hand: no promise on the hot path. */
  peek(uid: string): CachedEndpoint | undefined {
    const entry = this.#entries.get(uid);
    if (entry === undefined || !this.#store.shared) return entry;
    const age = this.#now() - entry.readAt;
    if (age > MAX_AGE_MS) return undefined;
    // A failure is told to the senders who have to wait for a lookup.
    if (age > FRESH_MS) this.lookup(uid).catch(() => undefined);
    return entry;
  }

  /** Reads an endpoint; calls for the same uid share one read. `undefined` when there is none: that is not remembered. */
  lookup(uid: string): Promise<CachedEndpoint | undefined> {
    const running = this.#lookups.get(uid);
    if (running !== undefined) return running;
    // A lookup that ends after `forget` must not replace or remove the one that began later.
    const isLatest = (): boolean => this.#lookups.get(uid) === lookup;
    const lookup: Promise<CachedEndpoint | undefined> = this.#read(uid, isLatest).finally(() => {
      if (isLatest()) this.#lookups.delete(uid);
    });
    this.#lookups.set(uid, lookup);
    return lookup;
  }

  /** Drops an endpoint that was changed or deleted; a read that is under way is not kept either. */
  forget(uid: string): void {
    this.#entries.delete(uid);
    this.#lookups.delete(uid);
  }

  async #read(uid: string, isLatest: () => boolean): Promise<CachedEndpoint | undefined> {
    const before = this.#entries.get(uid);
    const found = await this.#store.findEndpoint(uid).catch((error: unknown) => {
      if (before === undefined) throw error;
      return 'unavailable' as const;
    });
    // What was known last is better than nothing: whether the capture is stored, storage decides.
    if (found === 'unavailable') return before;
    if (found === undefined) {
      if (isLatest()) this.#entries.delete(uid);
      return undefined;
    }
    const bucket =
      before?.bucket ??
      (this.#ratePerSecond === undefined ? undefined : new TokenBucket(this.#ratePerSecond, this.#now));
    const entry: CachedEndpoint = {
      id: found.id,
      uid,
      userId: found.userId,
      expiresAt: found.expiresAt,
      needsSource: found.source === null,
      bucket,
      readAt: this.#now(),
    };
    if (isLatest()) this.#keep(entry);
    return entry;
  }

  #keep(entry: CachedEndpoint): void {
    if (this.#entries.size >= MOST_ENTRIES) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(entry.uid, entry);
  }
}
