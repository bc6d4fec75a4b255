import type { RequestRecord } from '../../database/stored-request.ts';
import { BODY_PREVIEW_BYTES } from '@creel/contract';
import type { Query, SearchPosition } from '@creel/contract';
import { QueueFullError, FairQueue } from '../../limits/fair-queue.ts';
import { ProblemError, invalidQuery } from '../../http/problem.ts';
import type { Remote } from '../../database/remote.ts';
import type { searchQueries } from './queries.ts';

/** A match, with the uid of its endpoint. */
export interface FoundRecord extends RequestRecord {
  readonly endpointUid: string;
}

/** Requests and bytes per step. Between two steps other users' searches take turns, and abandoned searches end. */
const STEP_ROWS = 500;
const STEP_BYTES = 2 * 1024 * 1024;
/** Bytes that one call searches, and milliseconds that it takes. The caller continues with the cursor. */
const CALL_BYTES = 128 * 1024 * 1024;
const CALL_MS = 5000;
/** Maximum number of waiting calls of one user. */
const MAX_WAITING = 10;
const RETRY_SECONDS = 1;

/** A search of one user. */
export interface SearchRequest {
  readonly userId: number;
  /** Searches only this endpoint. */
  readonly endpointId?: number | undefined;
  readonly query: Query;
  readonly limit: number;
  /** Only requests older than this. */
  readonly before?: SearchPosition | undefined;
  /** Maximum number of stored requests to search. */
  readonly maxRows: number;
  /** Milliseconds after which no further step begins. */
  readonly maxMs?: number;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
}

/** A page of matches. */
export interface SearchPage {
  /** Newest first. */
  readonly found: readonly FoundRecord[];
  readonly searched: number;
  /** Cursor of the next page; `undefined` when everything was searched. A page that is not full may have a next one. */
  readonly next: SearchPosition | undefined;
}

/**
 * Searches of users. One user's searches run one after another, different users' in parallel. So the twenty searches
 * of one user delay each other, and another user waits for at most one of them.
 */
export class Searches {
  readonly #queries: Remote<typeof searchQueries>;
  readonly #now: () => number;
  readonly #queue = new FairQueue({ concurrencyPerOwner: 1, maxWaitingPerOwner: MAX_WAITING });

  constructor(queries: Remote<typeof searchQueries>, now: () => number) {
    this.#queries = queries;
    this.#now = now;
  }

  /**
   * Finds requests of a user, newest first. @throws ProblemError RATE_LIMITED when too many searches of the user wait;
   * the signal's reason
   */
  async run(request: SearchRequest): Promise<SearchPage> {
    try {
      return await this.#queue.run(
        request.userId,
        () => searchRequests(this.#queries, request, this.#now()),
        request.signal,
      );
    } catch (error) {
      throw error instanceof QueueFullError ? new ProblemError('RATE_LIMITED', { retryAfter: RETRY_SECONDS }) : error;
    }
  }
}

/** The order of results, as a comparison for `toSorted`. */
function newestFirst(a: SearchPosition, b: SearchPosition): number {
  return b.receivedAt - a.receivedAt || b.endpointId - a.endpointId || b.index - a.index;
}

/**
 * Finds requests of a user, newest first. Each step continues in the endpoint with the newest next request, so that
 * matches newer than all next requests are final. Within an endpoint, times never decrease. @throws ProblemError
 * INVALID_QUERY when a request takes too long to match; the signal's reason
 */
export async function searchRequests(
  queries: Remote<typeof searchQueries>,
  { userId, endpointId, query, limit, before, maxRows, maxMs = CALL_MS, signal }: SearchRequest,
  now: number,
): Promise<SearchPage> {
  signal.throwIfAborted();
  const waiting = (await queries.searchedEndpoints(userId, endpointId, before)).toSorted(newestFirst);
  const began = performance.now();
  let matches: FoundRecord[] = [];
  let searched = 0;
  let bytes = 0;
  for (let newest = waiting[0]; newest !== undefined; newest = waiting[0]) {
    // Reads one more than requested, to know whether there is a next page.
    const ready = matches.slice(0, limit + 1).filter((match) => newestFirst(match, newest) < 0);
    if (ready.length > limit) return fullPage(ready, limit, searched);
    const isLate = searched > 0 && performance.now() - began >= maxMs;
    if (searched >= maxRows || bytes >= CALL_BYTES || isLate)
      return { found: ready.slice(0, limit), searched, next: justAbove(newest) };
    signal.throwIfAborted();
    const step = await queries.scanRequests({
      endpointId: newest.endpointId,
      from: newest.index,
      query,
      now,
      limit: limit + 1,
      maxRows: Math.min(STEP_ROWS, maxRows - searched),
      maxBytes: STEP_BYTES,
      bodyBytes: BODY_PREVIEW_BYTES,
    });
    if (step.tooSlowFor !== undefined) throw tooSlow(step.tooSlowFor);
    searched += step.searched;
    bytes += step.bytes;
    const found = step.found.map((record) => ({ ...record, endpointUid: newest.uid }));
    matches = [...matches, ...found].toSorted(newestFirst).slice(0, limit + 1);
    waiting.shift();
    if (step.next !== undefined) waiting.push({ ...newest, ...step.next });
    waiting.sort(newestFirst);
  }
  return matches.length > limit ? fullPage(matches, limit, searched) : { found: matches, searched, next: undefined };
}

function tooSlow(bytes: number): ProblemError {
  const size = `${Math.ceil(bytes / 1024 / 1024)} MB`;
  const sentence = `This query takes too long for a request of ${size}. Use fewer terms, or search smaller requests with size:<1mb.`;
  return invalidQuery('q', sentence, 0);
}

function fullPage(matches: readonly FoundRecord[], limit: number, searched: number): SearchPage {
  const found = matches.slice(0, limit);
  return { found, searched, next: found.at(-1) };
}

/** The cursor of a page that starts with this request. */
function justAbove({ receivedAt, endpointId, index }: SearchPosition): SearchPosition {
  return { receivedAt, endpointId, index: index + 1 };
}
