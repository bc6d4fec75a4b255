/** Milliseconds since 1970, UTC. */
type Millis = number;
/** 0 or 1. */
type Bit = number;

/** One third-party identity of a user. Keyed by issuer and subject: an email address is no key (contract 6). */
export interface IdentitiesTable {
  issuer: string;
  subject: string;
  user_id: number;
  created_at: Millis;
}

/** What a browser has just proved to the provider, until it signs in with it. The handle itself is only in the cookie. */
export interface ProvenIdentitiesTable {
  handle_hash: string;
  issuer: string;
  subject: string;
  email: string | null;
  email_verified: Bit;
  display_name: string | null;
  expires_at: Millis;
}

/** One mailed link. The token itself is only in the mail; here is its SHA-256. */
export interface MailTokensTable {
  token_hash: string;
  user_id: number;
  /** `reset` or `verify`. */
  purpose: string;
  /** The address that it was mailed to; it proves nothing about another one. */
  email_key: string;
  expires_at: Millis;
}

/** How often something was tried. Names and addresses are in `key` only as keyed hashes. */
export interface ThrottlesTable {
  key: string;
  count: number;
  blocked_until: Millis;
  forget_at: Millis;
}

/** Secrets that the server made for itself. */
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
