import { billingReads, billingWrites } from './features/billing/queries.ts';
import { endpointReads, endpointWrites } from './features/endpoints/queries.ts';
import { identityReads, identityWrites } from './features/accounts/identity-queries.ts';
import { mailTokenReads, mailTokenWrites } from './features/accounts/mail-token-queries.ts';
import { liveReads } from './features/live/queries.ts';
import { noticeWrites } from './features/jobs/notice-queries.ts';
import { requestReads, requestWrites } from './features/requests/queries.ts';
import { searchReads } from './features/search/queries.ts';
import { sessionReads, sessionWrites } from './features/accounts/session-queries.ts';
import { throttleReads, throttleWrites } from './features/accounts/throttle-queries.ts';
import { maintenanceWrites } from './features/jobs/queries.ts';
import { accountReads, accountWrites } from './features/accounts/user-queries.ts';
import type { Bound } from './database/bind-queries.ts';

/** Fast reads, on the reader thread. */
export const READS = {
  ...accountReads,
  ...sessionReads,
  ...identityReads,
  ...mailTokenReads,
  ...throttleReads,
  ...endpointReads,
  ...requestReads,
  ...liveReads,
  ...billingReads,
};
/** Reads that may take long, on their own thread. */
export const SCANS = { ...searchReads };
/** Writes, on the writer's thread or connection. */
export const WRITES = {
  ...accountWrites,
  ...sessionWrites,
  ...identityWrites,
  ...mailTokenWrites,
  ...throttleWrites,
  ...endpointWrites,
  ...requestWrites,
  ...maintenanceWrites,
  ...noticeWrites,
  ...billingWrites,
};

/** Writes that free disk space, or that a user needs for it. They may use the reserve on a full disk. */
export const WRITES_ON_A_FULL_DISK: ReadonlySet<string> = new Set<keyof typeof WRITES>([
  'clearRequests',
  'deleteRequest',
  'deleteEndpoint',
  'deleteUser',
  'deleteExpiredEndpoints',
  'deleteExpiredSessions',
  'deleteStaleAccountRows',
  'purgeSome',
  'createSession',
  'touchSession',
  'endSession',
  'endSessions',
  'consumeTurn',
  'refundTurn',
  'resetTurns',
]);

export const QUERIES = { ...READS, ...SCANS, ...WRITES };

export type StoreQueries = Bound<typeof QUERIES>;
