import type { Query, Tier } from '@creel/contract';
import type { BillingQueries } from '../features/billing/queries.ts';
import type { LiveQueries } from '../features/live/queries.ts';
import type { AccountStore, UserRecord } from './account-store.ts';
import type { PackedCaptures } from './packed-captures.ts';

export type * from './account-store.ts';

/**
 * The server's interface to storage, implemented by SQLite and PostgreSQL; store.suite.ts tests both. Times are
 * milliseconds since 1970 and are always passed in: no query reads a clock. "Not found" is `undefined` or `false`. A
 * thrown error means that the database failed and the call changed nothing.
 */
export type Store = AccountStore & EndpointStore & RequestStore & CaptureStore & Upkeep & BillingQueries & LiveQueries;

export interface EndpointRecord {
  readonly id: number;
  readonly uid: string;
  readonly userId: number;
  readonly name: string | null;
  readonly source: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly autosave: boolean;
  readonly isFavorite: boolean;
  readonly savedCount: number;
  readonly unsavedCount: number;
  readonly latestAt: number | null;
}

export interface MethodCount {
  readonly method: string;
  readonly stored: number;
  readonly bytes: number;
}

export interface EndpointDetailRecord extends EndpointRecord {
  readonly methodCounts: readonly MethodCount[];
}

export interface NewEndpoint {
  /** The plan whose limits the caller applies. */
  readonly tier?: Tier;
  readonly uid: string;
  readonly userId: number;
  readonly name: string | null;
  readonly source: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly autosave: boolean;
}

export interface EndpointChanges {
  readonly name?: string | null;
  readonly source?: string | null;
  readonly autosave?: boolean;
  /**
   * True: at most `limit` of the user's endpoints may be favorites, and an expired endpoint is revived if fewer than
   * `endpointLimit` are unexpired at `now`. False: expires at `expiresAt`.
   */
  readonly favorite?:
    | {
        readonly on: true;
        readonly limit: number;
        readonly endpointLimit: number;
        readonly now: number;
        /** The plan whose limits the caller applies. */
        readonly tier?: Tier;
      }
    | { readonly on: false; readonly expiresAt: number };
}

export interface EndpointStore {
  /** Favorites first, then newest first. */
  listEndpoints(userId: number): Promise<readonly EndpointRecord[]>;
  /** Finds an endpoint of any owner by its exact uid. */
  findEndpoint(uid: string): Promise<EndpointRecord | undefined>;
  findEndpointDetail(uid: string): Promise<EndpointDetailRecord | undefined>;
  /**
   * Creates an endpoint unless the user has `limit` that are unexpired at `createdAt`; safe under parallel calls.
   * `undefined` when the user does not exist, `stale-plan` when the user's plan is no longer `endpoint.tier`.
   */
  createEndpoint(endpoint: NewEndpoint, limit: number): Promise<EndpointRecord | 'limit' | 'stale-plan' | undefined>;
  /**
   * Changes an endpoint. `undefined` when it does not exist, a limit when the user has the maximum number of favorites
   * or endpoints, `stale-plan` when the user's plan is no longer `favorite.tier`.
   */
  changeEndpoint(
    id: number,
    changes: EndpointChanges,
  ): Promise<EndpointRecord | 'limit' | 'endpoint-limit' | 'stale-plan' | undefined>;
  /** Sets the source if there is none; false when there is one or the endpoint does not exist. */
  setDetectedSource(id: number, source: string): Promise<boolean>;
  /**
   * Deletes an endpoint. Its requests are hidden at once and removed from disk by `purgeSome`. False when it does not
   * exist.
   */
  deleteEndpoint(id: number): Promise<boolean>;
}

export interface RequestRecord {
  readonly endpointId: number;
  readonly index: number;
  /** Null while unsaved. */
  readonly savedId: number | null;
  readonly method: string;
  readonly receivedAt: number;
  /** See request-head.ts. */
  readonly head: Uint8Array;
  /** The whole body, or its beginning if the call limits it; null when there was none. */
  readonly body: Uint8Array | null;
  /** Size of the whole body in bytes. */
  readonly size: number;
}

export interface FoundRecord extends RequestRecord {
  readonly endpointUid: string;
}

/** `any` matches both. */
export type SavedFilter = 'saved' | 'unsaved' | 'any';

export interface ListQuery {
  readonly endpointId: number;
  readonly which: SavedFilter;
  readonly limit: number;
  /** Only indexes below this one. */
  readonly before?: number | undefined;
  readonly method?: string | undefined;
  /** Maximum bytes of each body. */
  readonly bodyBytes: number;
}

export type RequestName = { readonly savedId: number } | { readonly index: number };

/** The position of a request in search results, ordered by time, endpoint and index, descending. */
export interface SearchCursor {
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly endpointId: number;
  readonly index: number;
}

/** An endpoint that is searched, and its newest request that was not searched yet. */
export interface SearchedEndpoint {
  readonly id: number;
  readonly uid: string;
  readonly next: Pick<SearchCursor, 'receivedAt' | 'index'>;
}

/** One step of a search in one endpoint, from an index downward. */
export interface Scan {
  readonly endpointId: number;
  readonly from: number;
  readonly query: Query;
  /** Relative times of the query count from here. */
  readonly now: number;
  /** The step ends after this many matches. */
  readonly limit: number;
  readonly maxRows: number;
  /** Maximum bytes of heads and bodies per step; a single request may exceed it. */
  readonly maxBytes: number;
  /** Maximum bytes of the body of each match. */
  readonly bodyBytes: number;
}

export interface ScanResult {
  /** Newest first. */
  readonly found: readonly RequestRecord[];
  /** Number of searched requests, and their bytes. */
  readonly searched: number;
  readonly bytes: number;
  /** Start of the next step; `undefined` at the end. */
  readonly next: SearchedEndpoint['next'] | undefined;
}

export interface RequestStore {
  /** Newest first. Empty when the endpoint does not exist. */
  listRequests(query: ListQuery): Promise<readonly RequestRecord[]>;
  /**
   * `index` finds unsaved requests only, `savedId` saved ones. `bodyBytes` limits the body; without it the whole body
   * is returned.
   */
  findRequest(endpointId: number, name: RequestName, bodyBytes?: number): Promise<RequestRecord | undefined>;
  /**
   * Saves the request with this index and returns it with the beginning of its body. For a saved request `changed` is
   * false. `undefined` when there is no such request, `limit` when the endpoint has `maxSaved` saved requests.
   */
  saveRequest(
    endpointId: number,
    index: number,
    maxSaved: number,
    bodyBytes: number,
  ): Promise<{ record: RequestRecord; changed: boolean } | 'limit' | undefined>;
  /** False when there was no such request. */
  deleteRequest(endpointId: number, name: RequestName): Promise<boolean>;
  /**
   * Clears an endpoint. Its requests are hidden at once and removed from disk by `purgeSome`. Returns the index below
   * which all requests were removed, or `undefined` when the endpoint does not exist.
   */
  clearRequests(endpointId: number): Promise<number | undefined>;
  /** The user's endpoints, or one of them, with requests older than `before`, in any order. */
  searchedEndpoints(
    userId: number,
    endpointId: number | undefined,
    before: SearchCursor | undefined,
  ): Promise<readonly SearchedEndpoint[]>;
  scanRequests(scan: Scan): Promise<ScanResult>;
}

export interface CaptureLimits {
  readonly maxUnsaved: number;
  readonly maxSaved: number;
}

/** The result of a batch, in its order. */
export interface CaptureOutcome {
  /** The capture's index, or -1 when its endpoint does not exist. */
  readonly indexes: Float64Array;
  /** The saved request's id, or 0 when it is unsaved. */
  readonly savedIds: Float64Array;
  /** When each capture was received, if another one of its endpoint had a later time; else as in the batch. */
  readonly receivedAt?: Float64Array | undefined;
  /** The batch's buffer, for reuse. */
  readonly recycled?: ArrayBuffer;
}

export interface CaptureStore {
  /**
   * Stores a batch in one transaction. Resolves after it is committed and synced to disk. Batches are written in the
   * order of the calls. A batch whose id is already stored is not stored again. PostgreSQL fails after `withinMs`
   * milliseconds; the batch may then be stored nevertheless, once.
   */
  writeCaptures(batch: PackedCaptures, limits: CaptureLimits, withinMs?: number): Promise<CaptureOutcome>;
}

/** Writes batches beside those of the senders. */
export interface DrainStore extends CaptureStore {
  /** Resolves when batches can be stored durably. @throws StorageUnavailable or StorageProblem */
  check(withinMs: number): Promise<void>;
}

/** An endpoint that expires soon, with its owner. */
export interface ExpiryNotice {
  readonly endpointId: number;
  readonly uid: string;
  readonly name: string | null;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly user: UserRecord;
}

/** The state of the data folder's disk. */
export interface DiskState {
  readonly freeBytes: number;
  /** Captures are rejected until there is room. Calls that free space work. */
  readonly isFull: boolean;
  /** A database file that was removed or replaced while open. Nothing is written. */
  readonly missingFile: string | undefined;
}

export interface Upkeep {
  /** Calls back with the state of the disk and each change of it. Only for a database in the data folder. */
  readonly watchDisk?: (onState: (state: DiskState) => void) => void;
  /** Resolves when the database can store a capture; throws otherwise. */
  checkWritable(now: number): Promise<void>;
  /** Removes up to `limit` rows of cleared or deleted endpoints; false when nothing is left. */
  purgeSome(limit: number): Promise<boolean>;
  /** Deletes up to `limit` endpoints that expired before `before`; returns their uids. */
  deleteExpiredEndpoints(before: number, limit: number): Promise<readonly { id: number; uid: string }[]>;
  /**
   * Claims up to `limit` notices of endpoints that expire after `from` and at or before `until`. Each expiry is claimed
   * once, by one process, which then notifies the owner.
   */
  claimExpiryNotices(from: number, until: number, limit: number): Promise<readonly ExpiryNotice[]>;
  /** Releases notices that could not be sent. */
  releaseExpiryNotices(notices: readonly Pick<ExpiryNotice, 'endpointId' | 'expiresAt'>[]): Promise<void>;
  deleteExpiredSessions(now: number): Promise<void>;
  /** Removes expired mailed links, proven identities and throttles. */
  deleteStaleAccountRows(now: number): Promise<void>;
  /** Deletes the ids of old batches. Only for databases that store them; `undefined` otherwise. */
  readonly deleteOldBatches?: () => Promise<void>;
  /** For batches from the overflow log. Only for databases that may be away. */
  readonly drain?: DrainStore;
  /** True if other processes may write to the same database, so that caches expire quickly. */
  readonly shared: boolean;
  close(): Promise<void>;
}
