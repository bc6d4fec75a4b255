import type { Query, Tier } from '@creel/contract';
import type { BillingQueries } from '../features/billing/queries.ts';
import type { AccountStore, UserRecord } from './account-store.ts';
import type { PackedCaptures } from './packed-captures.ts';

export type * from './account-store.ts';

/**
 * What the rest of the server knows of storage. Two databases stand behind it, SQLite and PostgreSQL, and store.suite.ts is the law
 * for both. Times are milliseconds since 1970 and always handed in: no query reads a clock. "Not found" is `undefined` or `false`,
 * never an exception; whatever is thrown means that the database failed, and nothing of that call was kept.
 */
export type Store = AccountStore & EndpointStore & RequestStore & CaptureStore & Upkeep & BillingQueries;

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
   * Favourite on: at most `limit` of the user's endpoints may be one, and an expired endpoint comes back to life if fewer than
   * `endpointLimit` are not expired at `now`. Off: expires at `expiresAt`.
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
  /** Favourites first, then newest first. */
  listEndpoints(userId: number): Promise<readonly EndpointRecord[]>;
  /** By exact uid, whoever owns it. */
  findEndpoint(uid: string): Promise<EndpointRecord | undefined>;
  findEndpointDetail(uid: string): Promise<EndpointDetailRecord | undefined>;
  /**
   * Creates an endpoint unless the user has `limit` that are not expired at `createdAt`; holds under parallel calls. `undefined`
   * when the user is gone, `stale-plan` when the user's plan is not `endpoint.tier` any more.
   */
  createEndpoint(endpoint: NewEndpoint, limit: number): Promise<EndpointRecord | 'limit' | 'stale-plan' | undefined>;
  /**
   * Changes an endpoint; `undefined` when it is gone, a limit when the user has all the favorites or endpoints that are allowed,
   * `stale-plan` when the user's plan is not `favorite.tier` any more.
   */
  changeEndpoint(
    id: number,
    changes: EndpointChanges,
  ): Promise<EndpointRecord | 'limit' | 'endpoint-limit' | 'stale-plan' | undefined>;
  /** Sets the source if there is none yet; false when there is one or the endpoint is gone. */
  setDetectedSource(id: number, source: string): Promise<boolean>;
  /** Deletes an endpoint; its requests go from sight at once and from disk by `purgeSome`. False when it was gone. */
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
  /** The whole body, or its beginning where a call says so; null when there was none. */
  readonly body: Uint8Array | null;
  /** Bytes of the whole body. */
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
  /** Bytes of each body at most. */
  readonly bodyBytes: number;
}

export type RequestName = { readonly savedId: number } | { readonly index: number };

/** The place of a request in the order of search results: by time, then endpoint, then index, the highest first. */
export interface SearchCursor {
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly endpointId: number;
  readonly index: number;
}

/** An endpoint that a search goes through, and the newest request of it that was not searched yet. */
export interface SearchedEndpoint {
  readonly id: number;
  readonly uid: string;
  readonly next: Pick<SearchCursor, 'receivedAt' | 'index'>;
}

/** One step of a search through one endpoint, from an index down. */
export interface Scan {
  readonly endpointId: number;
  readonly from: number;
  readonly query: Query;
  /** What relative times of the query count from. */
  readonly now: number;
  /** The step ends after so many matches. */
  readonly limit: number;
  readonly maxRows: number;
  /** Bytes of heads and bodies; a single request may have more. */
  readonly maxBytes: number;
  /** Bytes of each found body at most. */
  readonly bodyBytes: number;
}

export interface ScanResult {
  /** Newest first. */
  readonly found: readonly RequestRecord[];
  /** Requests that were searched, and their bytes. */
  readonly searched: number;
  readonly bytes: number;
  /** Where the next step starts; `undefined` at the end. */
  readonly next: SearchedEndpoint['next'] | undefined;
}

export interface RequestStore {
  /** Newest first. Empty when the endpoint is gone. */
  listRequests(query: ListQuery): Promise<readonly RequestRecord[]>;
  /** `index` finds unsaved requests only, `savedId` saved ones. `bodyBytes` cuts the body; without it all of it comes. */
  findRequest(endpointId: number, name: RequestName, bodyBytes?: number): Promise<RequestRecord | undefined>;
  /**
   * Saves the request with this index, beginning of the body in the answer. Saved already: the same request again, `changed` false.
   * `undefined` when there is no such request, `limit` when the endpoint holds `maxSaved` saved ones.
   */
  saveRequest(
    endpointId: number,
    index: number,
    maxSaved: number,
    bodyBytes: number,
  ): Promise<{ record: RequestRecord; changed: boolean } | 'limit' | undefined>;
  /** False when there was no such request. */
  deleteRequest(endpointId: number, name: RequestName): Promise<boolean>;
  /** Clears an endpoint: what it holds goes from sight at once and from disk by `purgeSome`. */
  clearRequests(endpointId: number): Promise<void>;
  /** The user's endpoints, or one of them, that have requests older than `before`, in any order. */
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

/** What became of a batch, in its order. */
export interface CaptureOutcome {
  /** The capture's index, or -1 when its endpoint is gone. */
  readonly indexes: Float64Array;
  /** The saved request's id, or 0 when it is unsaved. */
  readonly savedIds: Float64Array;
  /** The batch's buffer, to be used again. */
  readonly recycled?: ArrayBuffer;
}

export interface CaptureStore {
  /**
   * Stores a batch in one transaction. Resolves only after it is on disk, committed and synced. Batches are written in the order of
   * the calls.
   */
  writeCaptures(batch: PackedCaptures, limits: CaptureLimits): Promise<CaptureOutcome>;
}

/** An endpoint that expires soon, and whose it is. */
export interface ExpiryNotice {
  readonly endpointId: number;
  readonly uid: string;
  readonly name: string | null;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly user: UserRecord;
}

/** The disk of the data folder, as storage sees it. */
export interface DiskState {
  readonly freeBytes: number;
  /** Captures are refused until there is room. Calls that free space work. */
  readonly isFull: boolean;
  /** A file of the database that was removed or replaced while it was open: nothing is written. */
  readonly missingFile: string | undefined;
}

export interface Upkeep {
  /** Calls back with the state of the disk and each change of it. Only for a database in the data folder. */
  readonly watchDisk?: (onState: (state: DiskState) => void) => void;
  /** Resolves when the database can take a capture; throws otherwise. */
  checkWritable(now: number): Promise<void>;
  /** Removes up to `limit` rows of cleared or deleted endpoints; false when nothing is left to do. */
  purgeSome(limit: number): Promise<boolean>;
  /** Deletes endpoints that expired before `before`, at most `limit`; their uids. */
  deleteExpiredEndpoints(before: number, limit: number): Promise<readonly { id: number; uid: string }[]>;
  /**
   * Takes the notices of endpoints that expire after `from` and not after `until`, at most `limit`: each expiry once, whoever asks, so
   * that whoever takes one tells the owner.
   */
  claimExpiryNotices(from: number, until: number, limit: number): Promise<readonly ExpiryNotice[]>;
  /** Gives notices back that could not be told. */
  releaseExpiryNotices(notices: readonly Pick<ExpiryNotice, 'endpointId' | 'expiresAt'>[]): Promise<void>;
  deleteExpiredSessions(now: number): Promise<void>;
  /** Removes mailed links, proven identities and throttles that are over. */
  deleteStaleAccountRows(now: number): Promise<void>;
  /** True where other processes may write to the same database, so that what is cached must be read again soon. */
  readonly shared: boolean;
  close(): Promise<void>;
}
