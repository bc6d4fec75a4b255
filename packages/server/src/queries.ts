import { accountQueries } from './features/accounts/queries.ts';
import { billingQueries } from './features/billing/queries.ts';
import { deliveryQueries } from './features/deliveries/queries.ts';
import { endpointQueries } from './features/endpoints/queries.ts';
import { jobQueries } from './features/jobs/queries.ts';
import { liveQueries } from './features/live/queries.ts';
import { mailQueries } from './features/mail/queries.ts';
import { requestQueries } from './features/requests/queries.ts';
import { requestChangeQueries } from './features/requests/change-queries.ts';
import { searchQueries } from './features/search/queries.ts';
import { signatureQueries } from './features/signatures/queries.ts';
import type { Remote } from './database/remote.ts';
import type { Store } from './database/store.ts';

/** The queries of all features. The threads of a database find them here by their names. */
export const QUERIES = {
  ...accountQueries,
  ...endpointQueries,
  ...requestQueries,
  ...requestChangeQueries,
  ...searchQueries,
  ...liveQueries,
  ...jobQueries,
  ...mailQueries,
  ...billingQueries,
  ...deliveryQueries,
  ...signatureQueries,
};

/** An open database with the queries of all features. */
export type AppStore = Store & Remote<typeof QUERIES>;
