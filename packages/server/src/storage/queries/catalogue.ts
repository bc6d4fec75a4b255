import { billingReads, billingWrites } from '../../features/billing/queries.ts';
import { endpointReads, endpointWrites } from './endpoint-queries.ts';
import { identityReads, identityWrites } from './identity-queries.ts';
import { mailTokenReads, mailTokenWrites } from './mail-token-queries.ts';
import { noticeWrites } from './notice-queries.ts';
import { requestReads, requestWrites } from './request-queries.ts';
import { searchReads } from './search-queries.ts';
import { sessionReads, sessionWrites } from './session-queries.ts';
import { throttleReads, throttleWrites } from './throttle-queries.ts';
import { upkeepWrites } from './upkeep-queries.ts';
import { accountReads, accountWrites } from './user-queries.ts';
import type { Bound } from '../bind-queries.ts';

/** Quick reads, on the readers' thread. */
export const READS = {
  ...accountReads,
  ...sessionReads,
  ...identityReads,
  ...mailTokenReads,
  ...throttleReads,
  ...endpointReads,
  ...requestReads,
  ...billingReads,
};
/** Reads that may take long, on a thread of their own. */
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
  ...upkeepWrites,
  ...noticeWrites,
  ...billingWrites,
};

/** Writes that free disk space, or that a user needs to get there: they may use what is reserved for a full disk. */
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
  'takeTurn',
  'giveTurnBack',
  'forgetTurns',
]);

export const QUERIES = { ...READS, ...SCANS, ...WRITES };

export type StoreQueries = Bound<typeof QUERIES>;
