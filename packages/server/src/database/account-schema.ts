/** Milliseconds since 1970, UTC. */
type Millis = number;
/** 0 or 1. */
type Bit = number;

/** A third-party identity of a user. The key is issuer and subject, because email addresses change owners. */
export interface IdentitiesTable {
  issuer: string;
  subject: string;
  user_id: number;
  created_at: Millis;
}

/**
 * An identity that a browser has just proved at the provider, kept until that browser logs in with it. Only the cookie
 * holds the handle itself.
 */
export interface ProvenIdentitiesTable {
  handle_hash: string;
  issuer: string;
  subject: string;
  email: string | null;
  email_verified: Bit;
  display_name: string | null;
  expires_at: Millis;
}

/** A mailed link. Only the mail holds the token; the table holds its SHA-256. */
export interface MailTokensTable {
  token_hash: string;
  user_id: number;
  /** `reset` or `verify`. */
  purpose: string;
  /** The address that the link was mailed to. The link proves nothing about other addresses. */
  email_key: string;
  expires_at: Millis;
}

/** How often something was tried. `key` holds usernames and addresses only as keyed hashes. */
export interface ThrottlesTable {
  key: string;
  count: number;
  blocked_until: Millis;
  forget_at: Millis;
}

/** Secrets that the server generated for itself. */
export interface SecretsTable {
  name: string;
  value: string;
}

export interface AccountTables {
  identities: IdentitiesTable;
  proven_identities: ProvenIdentitiesTable;
  mail_tokens: MailTokensTable;
  throttles: ThrottlesTable;
  secrets: SecretsTable;
}
