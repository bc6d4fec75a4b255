import type { Accounts } from './features/accounts/service.ts';
import type { Searches } from './features/search/service.ts';
import type { Config } from './config.ts';
import type { ClientAddressOf } from './http/client-address.ts';
import type { Billing } from './features/billing/service.ts';
import type { Live } from './features/live/service.ts';
import type { Deliveries } from './features/deliveries/service.ts';
import type { Logger } from './log.ts';
import type { Mailer } from './features/mail/service.ts';
import type { Replays } from './features/replay/service.ts';
import type { Signatures } from './features/signatures/service.ts';
import type { AppStore } from './queries.ts';

/** Everything that a handler can use. Created once, in app.ts. */
export interface AppContext {
  readonly config: Config;
  readonly clientAddressOf: ClientAddressOf;
  readonly store: AppStore;
  readonly accounts: Accounts;
  /** `undefined` without SMTP_URL: mail is off. */
  readonly mailer: Mailer | undefined;
  /** `undefined` where billing is off. */
  readonly billing: Billing | undefined;
  readonly live: Live;
  readonly replays: Replays;
  readonly deliveries: Deliveries;
  readonly signatures: Signatures;
  readonly log: Logger;
  readonly now: () => number;
  readonly searches: Searches;
  /** Origin of capture URLs and links, without a trailing slash. Known after the server listens. */
  readonly publicUrl: () => string;
  /** Starts removing cleared and deleted requests from disk. */
  readonly purgeSoon: () => void;
}
