import type { SigningScheme } from '@creel/contract';
import type { ColumnType, Generated, Kysely, Transaction } from 'kysely';
import type { AccountTables } from './account-schema.ts';
import type { BillingTables } from './billing-schema.ts';
import type { DeliveryTables } from './delivery-schema.ts';

/** Milliseconds since 1970, UTC. Integers work the same in both databases. */
type Millis = number;
/** 0 or 1. */
type Bit = number;

/** A user. `username_key` and `email_key` decide uniqueness: normalized and lowercase. */
export interface UsersTable {
  id: Generated<number>;
  username: string;
  username_key: string;
  email: string;
  email_key: string;
  email_verified: Bit;
  /** Argon2id in PHC notation; null for an account without a password. */
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

/** A logged-in browser. Only the cookie holds the token; the table holds its SHA-256. */
export interface SessionsTable {
  token_hash: string;
  /** Public id of the session, safe to show. */
  id: string;
  user_id: number;
  created_at: Millis;
  last_seen_at: Millis;
  expires_at: Millis;
  user_agent: string;
  ip: string;
}

/** A capture URL. Each batch updates the counters, so that reads don't count rows. */
export interface EndpointsTable {
  id: Generated<number>;
  uid: string;
  user_id: number;
  name: string | null;
  source: string | null;
  created_at: Millis;
  /** Null for a favorite. */
  expires_at: Millis | null;
  /** The expiry that the owner was notified of, or is being notified of. */
  noticed_expiry: ColumnType<Millis | null, Millis | null | undefined, Millis | null>;
  autosave: Bit;
  is_favorite: Bit;
  /** The index of the next capture; never decreases. */
  next_index: ColumnType<number, number | undefined, number>;
  /** Captures below this index were cleared and wait to be purged. */
  first_index: ColumnType<number, number | undefined, number>;
  /**
   * No unsaved capture has an index below this one, except those with pending deliveries. The next trim starts here,
   * so it skips requests that were saved long ago.
   */
  trimmed_to: ColumnType<number, number | undefined, number>;
  /** Unsaved captures that were dropped since the creation or the last clear, because newer ones took their place. */
  dropped_count: ColumnType<number, number | undefined, number>;
  saved_count: ColumnType<number, number | undefined, number>;
  unsaved_count: ColumnType<number, number | undefined, number>;
  /**
   * Unsaved captures below `trimmed_to`. They are over the limit and are removed when none of their deliveries is
   * pending.
   */
  spared_count: ColumnType<number, number | undefined, number>;
  /** Deliveries of captures below this index are planned. Null for an endpoint without destinations. */
  planned_to: ColumnType<number | null, number | null | undefined, number | null>;
  /** 1 after the first destination or the first attempt to send a request. */
  has_deliveries: ColumnType<Bit, Bit | undefined, Bit>;
  latest_at: Millis | null;
  /** Null without a signing secret. */
  signing_scheme: ColumnType<SigningScheme | null, SigningScheme | null | undefined, SigningScheme | null>;
}

/** The secret that an endpoint's sender signs with: encrypted JSON, see features/signatures/service.ts. */
export interface SigningSecretsTable {
  endpoint_id: number;
  sealed: string;
}

/** Number and body bytes of stored requests, per endpoint and method. */
export interface EndpointMethodCountsTable {
  endpoint_id: number;
  method: string;
  stored: number;
  bytes: number;
}

/**
 * A captured request. `key` is the endpoint's id in the high bits and the index in the low 32. Rows of an endpoint are
 * adjacent and ordered, so the hot path needs no second index.
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

/** Ranges of captured requests without an endpoint, removed in steps in the background. */
export interface PurgesTable {
  id: Generated<number>;
  endpoint_id: number;
  /** Advances with each step, so that no step reads rows that were already removed. */
  from_index: number;
  below_index: number;
}

/** Counters that only grow. `saved_id`: the last id of a saved request (SQLite; PostgreSQL uses a sequence). */
export interface CountersTable {
  name: string;
  value: number;
}

export interface Tables extends AccountTables, BillingTables, DeliveryTables {
  users: UsersTable;
  sessions: SessionsTable;
  endpoints: EndpointsTable;
  endpoint_method_counts: EndpointMethodCountsTable;
  signing_secrets: SigningSecretsTable;
  captured_requests: CapturedRequestsTable;
  purges: PurgesTable;
  counters: CountersTable;
}

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;
