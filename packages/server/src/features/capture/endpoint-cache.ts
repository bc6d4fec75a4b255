import type { Bus } from '../../bus/bus.ts';
import { StorageUnavailable, databaseTooLate } from '../../database/store.ts';
import type { EndpointRecord } from '../../database/records.ts';
import type { Remote } from '../../database/remote.ts';
import { withTimeout } from '../../limits/timeouts.ts';
import { SharedReads } from '../../limits/shared-reads.ts';
import { TokenBucket, setNewest } from '../../limits/rate-limits.ts';
import type { endpointQueries } from '../endpoints/queries.ts';

/** The data of an endpoint that the capture path needs. */
export interface CachedEndpoint {
  readonly id: number;
  readonly uid: string;
  /** The user whose share of memory and queue the captures use. */
  readonly userId: number;
  /** Null: never. */
  readonly expiresAt: number | null;
  /** True until a source is detected; each capture is examined until then. */
  needsSource: boolean;
  /** Captures of other endpoints do not wake the planner of deliveries. */
  readonly hasDestinations: boolean;
  readonly bucket: TokenBucket | undefined;
  readonly readAt: number;
  /** See `EndpointCache.invalidate`. */
  isStale: boolean;
}

const MAX_ENTRIES = 10_000;
/** Milliseconds for which an entry is fresh while notices of other nodes may be missing. */
const FRESH_MS = 1000;
/** Up to this age an entry serves while it is read again. A lookup for every sender would cost a third of the rate. */
const MAX_AGE_MS = 1400;
/**
 * Milliseconds that a lookup may take. For a cached endpoint, the old entry serves after the shorter time, because
 * storing needs time too. Storage checks again whether the endpoint exists.
 */
const LOOKUP_MS = 2000;
const KNOWN_LOOKUP_MS = 500;
/** Milliseconds between two lookups while the database does not answer. */
const RETRY_MS = 250;

/** Cache of endpoints by uid. It follows the changes and deletions of this node and of the others. */
export class EndpointCache {
  readonly #store: Pick<Remote<typeof endpointQueries>, 'findEndpoint'>;
  readonly #ratePerSecond: number | undefined;
  readonly #now: () => number;
  readonly #bus: Pick<Bus, 'isHealthy'>;
  readonly #entries = new Map<string, CachedEndpoint>();
  readonly #lookups = new SharedReads<string, CachedEndpoint | undefined>();
  /** When the last lookup failed, if none has succeeded since. Entries then serve at any age. */
  #failedAt: number | undefined;

  constructor(
    store: Pick<Remote<typeof endpointQueries>, 'findEndpoint'>,
    ratePerSecond: number | undefined,
    now: () => number,
    bus: Pick<Bus, 'isHealthy'>,
  ) {
    this.#store = store;
    this.#ratePerSecond = ratePerSecond;
    this.#now = now;
    this.#bus = bus;
  }

  /** The cached entry, without a promise on the hot path. */
  peek(uid: string): CachedEndpoint | undefined {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return undefined;
    if (!entry.isStale && this.#bus.isHealthy) return entry;
    if (this.#failedAt !== undefined) {
      if (this.#since(this.#failedAt) > RETRY_MS) this.lookup(uid).catch(() => undefined);
      return entry;
    }
    const age = entry.isStale ? Infinity : this.#since(entry.readAt);
    if (age > MAX_AGE_MS) return undefined;
    // Only senders that wait for a lookup see its failure.
    if (age > FRESH_MS) this.lookup(uid).catch(() => undefined);
    return entry;
  }

  /**
   * Reads an endpoint. Calls for the same uid share one read. `undefined` when it does not exist; that is not cached.
   */
  lookup(uid: string): Promise<CachedEndpoint | undefined> {
    return this.#lookups.run(uid, (isLatest) => this.#read(uid, isLatest));
  }

  /** Drops an endpoint that was deleted. The results of reads in progress are not cached. */
  forget(id: number): void {
    for (const [uid, entry] of this.#entries) if (entry.id === id) this.#entries.delete(uid);
    this.#lookups.forgetAll();
  }

  /** Reads a changed endpoint at once. The old entry serves only while the database does not answer. */
  invalidate(id: number): void {
    this.#lookups.forgetAll();
    for (const [uid, entry] of this.#entries) {
      if (entry.id !== id) continue;
      entry.isStale = true;
      this.lookup(uid).catch(() => undefined);
    }
  }

  /** Notices were lost: every entry is read again before it serves. While the database does not answer, it serves. */
  invalidateAll(): void {
    for (const entry of this.#entries.values()) entry.isStale = true;
    this.#lookups.forgetAll();
  }

  /** Milliseconds since a time. After the clock was set back, the time counts as long ago. */
  #since(time: number): number {
    const passed = this.#now() - time;
    return passed < 0 ? Infinity : passed;
  }

  /** @throws StorageUnavailable when the database does not answer in time, and no old entry can serve. */
  async #read(uid: string, isLatest: () => boolean): Promise<CachedEndpoint | undefined> {
    const before = this.#entries.get(uid);
    const withinMs = before === undefined ? LOOKUP_MS : KNOWN_LOOKUP_MS;
    let found: EndpointRecord | undefined;
    try {
      found = await withTimeout(withinMs, this.#store.findEndpoint(uid), databaseTooLate);
      this.#failedAt = undefined;
    } catch (error) {
      if (error instanceof StorageUnavailable) this.#failedAt = this.#now();
      // The old entry serves: storage checks again whether the endpoint exists.
      if (before !== undefined) return before;
      throw error;
    }
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
      hasDestinations: found.hasDestinations,
      bucket,
      readAt: this.#now(),
      isStale: false,
    };
    if (isLatest()) setNewest(this.#entries, uid, entry, MAX_ENTRIES);
    return entry;
  }
}
