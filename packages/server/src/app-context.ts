import type { Accounts } from './features/accounts/accounts.ts';
import type { Sessions } from './features/accounts/sessions.ts';
import type { OneAtATime } from './features/search/one-at-a-time.ts';
import type { Config } from './config.ts';
import type { Billing } from './features/billing/service.ts';
import type { Live } from './features/live/live.ts';
import type { Logger } from './log.ts';
import type { Mailer } from './features/mail/mailer.ts';
import type { Replays } from './features/replay/replays.ts';
import type { Store } from './database/store.ts';

/** What every handler can reach. Made once, in server.ts. */
export interface AppContext {
  readonly config: Config;
  readonly store: Store;
  readonly sessions: Sessions;
  readonly accounts: Accounts;
  /** `undefined` without SMTP_URL: mail is off. */
  readonly mailer: Mailer | undefined;
  /** `undefined` where billing is off. */
  readonly billing: Billing | undefined;
  readonly live: Live;
  readonly replays: Replays;
  readonly log: Logger;
  readonly now: () => number;
  /** Searches scan what is stored; each person's run one by one. */
  readonly searches: OneAtATime;
  /** Origin that capture URLs and links are made of, without a slash at the end. Known once the port is. */
  readonly publicUrl: () => string;
  /** Tells the capture path that an endpoint was changed or deleted. */
  readonly forgetEndpoint: (uid: string) => void;
  /** Removes from disk, soon, what was cleared or deleted. */
  readonly purgeSoon: () => void;
}
