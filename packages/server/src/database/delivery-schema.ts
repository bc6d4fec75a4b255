import type { ColumnType, Generated } from 'kysely';

/** Milliseconds since 1970, UTC. */
type Millis = number;
/** 0 or 1. */
type Bit = number;

/** Where the captures of an endpoint are forwarded. One process at a time sends to a destination: the lease's owner. */
export interface DestinationsTable {
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
  failures: ColumnType<number, number | undefined, number>;
  /** JSON of the statuses of the latest attempts, oldest first. Null without a response. */
  recent_statuses: ColumnType<string, string | undefined, string>;
  paused_at: Millis | null;
  pause_reason: string | null;
  /** When its next delivery is due. Null when nothing is pending, and while it is off or paused. May be too early. */
  due_at: Millis | null;
  lease_owner: string | null;
  lease_until: Millis | null;
  created_at: Millis;
}

/** A delivery that waits for an attempt. Its row is deleted when it succeeded or finally failed. */
export interface DeliveriesTable {
  /** Sent as `Creel-Delivery`. */
  id: string;
  /** The key of the captured request. */
  request_key: number;
  destination_id: number;
  /** Attempts so far. */
  attempts: number;
  /** The time of capture for the first attempt, so that first attempts are sent in the order of capture. */
  next_attempt_at: Millis;
}

/** The history of attempts: of destinations, replays and `creel forward`. */
export interface DeliveryAttemptsTable {
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
}

/** The latest delivery of a request, as JSON of the contract's `LastDelivery`. Lists read it with the request. */
export interface LatestDeliveriesTable {
  request_key: number;
  latest: string;
}

export interface DeliveryTables {
  destinations: DestinationsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  latest_deliveries: LatestDeliveriesTable;
}
