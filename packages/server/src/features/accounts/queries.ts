import { identityQueries } from './identity-queries.ts';
import { mailTokenQueries } from './mail-token-queries.ts';
import { sessionQueries } from './session-queries.ts';
import { throttleQueries } from './throttle-queries.ts';
import { userQueries } from './user-queries.ts';

/** SQL of users, their settings, sessions, identities, mailed links and throttles. */
export const accountQueries = {
  ...userQueries,
  ...sessionQueries,
  ...identityQueries,
  ...mailTokenQueries,
  ...throttleQueries,
};
