import type { ColumnType, Generated } from 'kysely';

/** Milliseconds since 1970, UTC. */
type Millis = number;

/** What billing keeps of a user beside the fields of the user's own row. */
export interface BillingAccountsTable {
  user_id: number;
  /** Idempotency key under which the customer is created, so that a repeated attempt finds the same one. */
  customer_key: string;
  /** End of the period that is paid for. */
  period_end_at: Millis | null;
  /** When the subscription is read again without an event; null for never. */
  next_check_at: Millis | null;
  /** The process that works on this account at the moment, until `locked_until`. */
  lock_owner: string | null;
  locked_until: ColumnType<Millis, Millis | undefined, Millis>;
}

/** One checkout that was started and is neither settled nor expired. */
export interface BillingCheckoutsTable {
  /** Also the idempotency key of the session. */
  id: string;
  user_id: number;
  /** The gateway's id; null while the session is being created. */
  session_id: string | null;
  created_at: Millis;
}

/** Events of the payment provider by their id. `done_at` is null until an event's effect is stored. */
export interface BillingEventsTable {
  id: string;
  type: string;
  received_at: Millis;
  done_at: Millis | null;
}

/** What billing keeps for the whole installation, such as the id of the portal configuration. */
export interface BillingSettingsTable {
  name: string;
  value: string;
}

/** Mails that were decided together with a change and are sent afterwards. */
export interface MailOutboxTable {
  id: Generated<number>;
  user_id: number;
  /** JSON of the notice. */
  content: string;
  /** Null while a process sends it. */
  send_after: Millis | null;
}

/** What the test gateway knows of a customer. */
export interface TestGatewayCustomersTable {
  customer_id: string;
  user_id: number;
  /** JSON of the simulated state. */
  state: string;
}

export interface BillingTables {
  billing_accounts: BillingAccountsTable;
  billing_checkouts: BillingCheckoutsTable;
  billing_events: BillingEventsTable;
  billing_settings: BillingSettingsTable;
  mail_outbox: MailOutboxTable;
  test_gateway_customers: TestGatewayCustomersTable;
}
