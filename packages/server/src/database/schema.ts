import type { SigningScheme } from '@creel/contract';
import type { Generated, Kysely, Transaction } from 'kysely';

/** Milliseconds since 1970, UTC. Integers work the same in both databases. */
type Millis = number;
/** 0 or 1. */
type Bit = number;

/** The tables of the database, by their names. */
export interface Tables {
  /** A user. `username_key` and `email_key` decide uniqueness: normalized and lowercase. */
  users: {
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
    /** JSON of the four settings. */
    settings: string;
    created_at: Millis;
  };
  /** A logged-in browser. Only the cookie holds the token; the table holds its SHA-256. */
  sessions: {
    token_hash: string;
    /** Public id of the session, safe to show. */
    id: string;
    user_id: number;
    created_at: Millis;
    last_seen_at: Millis;
    expires_at: Millis;
    user_agent: string;
    ip: string;
  };
  /** A capture URL. Each batch updates the counters, so that reads don't count rows. */
  endpoints: {
    id: Generated<number>;
    uid: string;
    user_id: number;
    name: string | null;
    source: string | null;
    created_at: Millis;
    /** Null for a favorite. */
    expires_at: Millis | null;
    /** The expiry that the owner was notified of, or is being notified of. Negative if the owner did not want a notice. */
    noticed_expiry: Millis | null;
    autosave: Bit;
    is_favorite: Bit;
    /** The index of the next capture; never decreases. */
    next_index: Generated<number>;
    /** Captures below this index were cleared and wait to be purged. */
    first_index: Generated<number>;
    /**
     * No unsaved capture has an index below this one, except those with pending deliveries. The next trim starts here,
     * so it skips requests that were saved long ago.
     */
    trimmed_to: Generated<number>;
    /** Unsaved captures that were dropped since the creation or the last clear, because newer ones took their place. */
    dropped_count: Generated<number>;
    saved_count: Generated<number>;
    unsaved_count: Generated<number>;
    /** Unsaved captures below `trimmed_to`. They are removed when none of their deliveries is pending. */
    spared_count: Generated<number>;
    /** Deliveries of captures below this index are planned. Null for an endpoint without destinations. */
    planned_to: number | null;
    /** 1 after the first destination or the first attempt to send a request. */
    has_deliveries: Generated<Bit>;
    latest_at: Millis | null;
    /** Null without a signing secret. */
    signing_scheme: SigningScheme | null;
  };
  /** Number and body bytes of stored requests, per endpoint and method. */
  endpoint_method_counts: {
    endpoint_id: number;
    method: string;
    stored: number;
    bytes: number;
  };
  /** The secret that an endpoint's sender signs with: encrypted JSON, see features/signatures/service.ts. */
  signing_secrets: {
    endpoint_id: number;
    sealed: string;
  };
  /**
   * A captured request. `key` is the endpoint's id in the high bits and the index in the low 32. Rows of an endpoint are
   * adjacent and ordered, so the hot path needs no second index.
   */
  captured_requests: {
    key: number;
    /** The id of a saved request; null while unsaved. */
    saved_id: number | null;
    method: string;
    received_at: Millis;
    /** See `encodeHead`. */
    head: Uint8Array;
    body: Uint8Array | null;
  };
  /** Ranges of captured requests without an endpoint, removed in steps in the background. */
  purges: {
    id: Generated<number>;
    endpoint_id: number;
    /** Advances with each step, so that no step reads rows that were already removed. */
    from_index: number;
    below_index: number;
  };
  /** Counters that only grow. `saved_id`: the last id of a saved request (SQLite; PostgreSQL uses a sequence). */
  counters: {
    name: string;
    value: number;
  };
  /** A third-party identity of a user. The key is issuer and subject, because email addresses change owners. */
  identities: {
    issuer: string;
    subject: string;
    user_id: number;
    created_at: Millis;
  };
  /** An identity that a browser proved at the provider and logs in with next. Only the cookie has the handle. */
  proven_identities: {
    handle_hash: string;
    issuer: string;
    subject: string;
    email: string | null;
    email_verified: Bit;
    display_name: string | null;
    expires_at: Millis;
  };
  /** An emailed link. Only the email holds the token; the table holds its SHA-256. */
  mail_tokens: {
    token_hash: string;
    user_id: number;
    /** `reset` or `verify`. */
    purpose: string;
    /** The address that the link was emailed to. The link proves nothing about other addresses. */
    email_key: string;
    expires_at: Millis;
  };
  /** How often something was tried. `key` holds usernames and addresses only as keyed hashes. */
  throttles: {
    key: string;
    count: number;
    blocked_until: Millis;
    forget_at: Millis;
  };
  /** Secrets that the server generated for itself. */
  secrets: {
    name: string;
    value: string;
  };
  /** Billing data of a user that is not in the user's own row. */
  billing_accounts: {
    user_id: number;
    /** Idempotency key for creating the customer, so that a repeated attempt finds the same one. */
    customer_key: string;
    period_end_at: Millis | null;
    /** When the subscription is read again without an event; null for never. */
    next_check_at: Millis | null;
    /** The process that works on this account until `locked_until`. */
    lock_owner: string | null;
    locked_until: Generated<Millis>;
  };
  /** A checkout that was started and is neither settled nor expired. */
  billing_checkouts: {
    /** Also the idempotency key of the session. */
    id: string;
    user_id: number;
    /** The gateway's id; null while the session is being created. */
    session_id: string | null;
    created_at: Millis;
  };
  /** Events of the payment provider by id. `done_at` is null until the event's effect is stored. */
  billing_events: {
    id: string;
    type: string;
    received_at: Millis;
    done_at: Millis | null;
  };
  /** Billing settings of the whole installation, such as the id of the portal configuration. */
  billing_settings: {
    name: string;
    value: string;
  };
  /** Emails that were written in the transaction of a change and are sent later. */
  mail_outbox: {
    id: Generated<number>;
    user_id: number;
    /** JSON of the notice. */
    content: string;
    /** While a process sends the email, the end of its claim. Null in rows that earlier versions claimed and lost. */
    send_after: Millis | null;
  };
  /** Customers of the simulated payment provider (`billing/simulation.ts`). */
  test_gateway_customers: {
    customer_id: string;
    user_id: number;
    /** JSON of the simulated state. */
    state: string;
  };
  /** Where the captures of an endpoint are forwarded. One process at a time sends to a destination: the lease's owner. */
  destinations: {
    id: Generated<number>;
    endpoint_id: number;
    url: string;
    append_path: Bit;
    enabled: Bit;
    /** Condition in the query language; empty for all captures. */
    query: string;
    sign: Bit;
    /** Captures below this index are not forwarded. */
    from_index: number;
    /** Failed attempts in a row. */
    failures: Generated<number>;
    /** JSON of the statuses of the latest attempts, oldest first. Null without a response. */
    recent_statuses: Generated<string>;
    paused_at: Millis | null;
    pause_reason: string | null;
    /** When its next delivery is due. Null when nothing is pending, and while it is off or paused. May be too early. */
    due_at: Millis | null;
    lease_owner: string | null;
    lease_until: Millis | null;
    created_at: Millis;
  };
  /** A delivery that waits for an attempt. Its row is deleted when it succeeded or finally failed. */
  deliveries: {
    /** Sent as `Creel-Delivery`. */
    id: string;
    request_key: number;
    destination_id: number;
    attempts: number;
    /** The time of capture for the first attempt, so that first attempts are sent in the order of capture. */
    next_attempt_at: Millis;
  };
  /** The history of attempts: of destinations, replays and `creel forward`. */
  delivery_attempts: {
    id: Generated<number>;
    request_key: number;
    delivery_id: string;
    kind: string;
    /** Null unless a destination sent it. The destination may be deleted. */
    destination_id: number | null;
    url: string;
    method: string;
    attempt: number;
    status: number | null;
    status_text: string;
    error: string | null;
    duration_ms: number;
    sent_at: Millis;
    /** JSON of `{ key, value }` pairs. */
    response_headers: string;
    response_body: Uint8Array | null;
    response_truncated: Bit;
  };
  /** The latest delivery of a request, as JSON of the contract's `LastDelivery`. Lists read it with the request. */
  latest_deliveries: {
    request_key: number;
    latest: string;
  };
}

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;
