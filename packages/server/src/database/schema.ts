import type { ColumnType, Generated, Kysely, Transaction } from 'kysely';
import type { AccountTables } from './account-schema.ts';
import type { BillingTables } from './billing-schema.ts';

/** Milliseconds since 1970, UTC. Integers, so that both databases speak alike. */
type Millis = number;
/** 0 or 1. */
type Bit = number;

/** One person. `username_key` and `email_key` are what uniqueness is judged by: normalised and in lower case (contract 2). */
export interface UsersTable {
  id: Generated<number>;
  username: string;
  username_key: string;
  email: string;
  email_key: string;
  email_verified: Bit;
  /** Argon2id in PHC notation; null for an account without a password of its own. */
  password_hash: string | null;
  display_name: string | null;
  subscription_tier: string;
  subscription_status: string;
  subscription_end_at: Millis | null;
  billing_interval: string | null;
  stripe_customer_id: string | null;
  stripe_subscription_id: string | null;
  stripe_customer_metadata: string | null;
  /** JSON of the four settings. */
  settings: string;
  created_at: Millis;
}

/** One signed-in browser. The token itself is only in the cookie; here is its SHA-256. */
export interface SessionsTable {
  token_hash: string;
  /** Public name of the session, safe to show. */
  id: string;
  user_id: number;
  created_at: Millis;
  last_seen_at: Millis;
  expires_at: Millis;
  user_agent: string;
  ip: string;
}

/** One capture URL. Counters are kept with each batch, not counted on reading (design 4). */
export interface EndpointsTable {
  id: Generated<number>;
  uid: string;
  user_id: number;
  name: string | null;
  source: string | null;
  created_at: Millis;
  /** Null for a favourite. */
  expires_at: Millis | null;
  /** The expiry that the owner was told of, or is being told of. */
  noticed_expiry: ColumnType<Millis | null, Millis | null | undefined, Millis | null>;
  autosave: Bit;
  is_favorite: Bit;
  /** The next capture's index; never goes back. */
  next_index: ColumnType<number, number | undefined, number>;
  /** Captures below this index were cleared and wait to be purged. */
  first_index: ColumnType<number, number | undefined, number>;
  /** No unsaved capture has an index below this one: the next trim begins here and not at what was saved long ago. */
  trimmed_to: ColumnType<number, number | undefined, number>;
  saved_count: ColumnType<number, number | undefined, number>;
  unsaved_count: ColumnType<number, number | undefined, number>;
  latest_at: Millis | null;
}

/** Stored requests and their body bytes per method of an endpoint. */
export interface EndpointMethodCountsTable {
  endpoint_id: number;
  method: string;
  stored: number;
  bytes: number;
}

/**
 * One captured request. `key` is the endpoint's id in the high bits and the index in the low 32: rows of an endpoint lie together
 * and in order, and the table needs no second index on the hot path.
 */
export interface CapturedRequestsTable {
  key: number;
  /** The id of a saved request; null while unsaved. */
  saved_id: number | null;
  method: string;
  received_at: Millis;
  /** See request-head.ts. */
  head: Uint8Array;
  body: Uint8Array | null;
}

/** Ranges of captured requests that no endpoint owns any more, removed bit by bit in the background. */
export interface PurgesTable {
  id: Generated<number>;
  endpoint_id: number;
  /** Moves on with each step, so that no step walks over what the ones before it removed. */
  from_index: number;
  below_index: number;
}

/** Counters that only grow. `saved_id`: the last id given to a saved request (SQLite; PostgreSQL has a sequence). */
export interface CountersTable {
  name: string;
  value: number;
}

export interface Tables extends AccountTables, BillingTables {
  users: UsersTable;
  sessions: SessionsTable;
  endpoints: EndpointsTable;
  endpoint_method_counts: EndpointMethodCountsTable;
  captured_requests: CapturedRequestsTable;
  purges: PurgesTable;
  counters: CountersTable;
}

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;
