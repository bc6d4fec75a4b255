import type { ColumnType, Generated } from 'kysely';

/** Milliseconds since 1970, UTC. */
type Millis = number;

/** Billing data of a user that is not in the user's own row. */
export interface BillingAccountsTable {
  user_id: number;
  /** Idempotency key for creating the customer, so that a repeated attempt finds the same one. */
  customer_key: string;
  /** End of the paid period. */
  period_end_at: Millis | null;
  /** When the subscription is read again without an event; null for never. */
  next_check_at: Millis | null;
  /** The process that works on this account until `locked_until`. */
  lock_owner: string | null;
  locked_until: ColumnType<Millis, Millis | undefined, Millis>;
}

/** A checkout that was started and is neither settled nor expired. */
export interface BillingCheckoutsTable {
  /** Also the idempotency key of the session. */
  id: string;
  user_id: number;
  /** The gateway's id; null while the session is being created. */
  session_id: string | null;
  created_at: Millis;
}

/** Events of the payment provider by id. `done_at` is null until the event's effect is stored. */
export interface BillingEventsTable {
  id: string;
  type: string;
  received_at: Millis;
  done_at: Millis | null;
}

/** Billing settings of the whole installation, such as the id of the portal configuration. */
export interface BillingSettingsTable {
  name: string;
  value: string;
}

/** Mails that were written in the transaction of a change and are sent later. */
export interface MailOutboxTable {
  id: Generated<number>;
  user_id: number;
  /** JSON of the notice. */
  content: string;
  /** Null while a process sends the mail. */
  send_after: Millis | null;
}

/** Customers of the test gateway. */
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
