import { ApiError, LEAVES_BASE_PATH, leavesBasePath, targetOf, targetUrlSchema } from '@creel/contract';
import { readWholeRequest } from '../../api/body-queries.ts';
import { failsForAll } from '../../api/client.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { statusLine, statusTone } from '../../ui/format.ts';
import type { StatusTone } from '../../ui/format.ts';
import { completeUrl } from '../../ui/urls.ts';
import { defaultForm } from './replay-form.ts';
import { defaultUrl, lastTargetOf, placeholderNote } from './replay-targets.ts';
import type { LastTarget } from './replay-targets.ts';
import { replayFailure, replayOnce } from './replays.ts';

/** How the replay of one request ended. */
export interface BulkResult {
  readonly request: ListedRequest;
  /** `500 Internal Server Error`, or why there was no response. */
  readonly label: string;
  readonly tone: StatusTone;
  /** False if the server rejected the replay, for example because the request is not stored. */
  readonly isSent: boolean;
  /** `undefined` if there was no response. */
  readonly status: number | undefined;
}

/** Statuses with their numbers, in order; what got no response is last. */
export function countStatuses(results: readonly BulkResult[]) {
  return [...Map.groupBy(results, ({ status }) => status)]
    .map(([status, same]) => ({ status, count: same.length, tone: same[0]?.tone ?? 'destructive' }))
    .toSorted((a, b) => (a.status ?? Number.POSITIVE_INFINITY) - (b.status ?? Number.POSITIVE_INFINITY));
}

/** The URL to which the captured paths are appended, from where the endpoint was last replayed to. */
export function suggestedBase(last: LastTarget | undefined): string {
  return last === undefined ? '' : defaultUrl({ path: '/', rawTarget: '/', queryParams: {} }, last);
}

/** What is wrong with a base; `undefined` if requests can be sent there. */
export function baseMistake(text: string): string | undefined {
  const url = completeUrl(text);
  const checked = targetUrlSchema.safeParse(url);
  return checked.success ? placeholderNote(url) : checked.error.issues[0]?.message;
}

/** Where a request is sent: its captured path and query after the base. */
export function urlBelow(base: string, request: Pick<ListedRequest, 'path' | 'rawTarget' | 'queryParams'>): string {
  return defaultUrl(request, lastTargetOf({ path: '/' }, completeUrl(base)));
}

/** The server limits replays, so a rejected one waits as long as the server says, and is sent again. */
const MAX_WAITS = 20;

/** Replays one request as it was captured. `undefined` if it was canceled. @throws ApiError that ends the whole run */
export async function replayBelow(
  uid: string,
  listed: ListedRequest,
  base: string,
  controller: AbortController,
): Promise<BulkResult | undefined> {
  const noAnswer = (error: unknown): BulkResult => {
    if (failsForAll(error)) throw error;
    const isSent = error instanceof ApiError && error.code === 'REPLAY_FAILED';
    return { request: listed, label: replayFailure(error), tone: 'destructive', isSent, status: undefined };
  };
  try {
    if (leavesBasePath(completeUrl(base), targetOf(listed))) throw new ApiError(400, LEAVES_BASE_PATH);
    const request = await readWholeRequest(uid, listed);
    const form = { ...defaultForm(request), url: urlBelow(base, request) };
    for (let waits = 0; ; waits++) {
      const outcome = await replayOnce(uid, { ...listed, ...request }, form, controller);
      if (outcome.phase === 'canceled') return undefined;
      if (outcome.phase === 'answered') {
        const { status } = outcome.answer;
        return { request: listed, label: statusLine(outcome.answer), tone: statusTone(status), isSent: true, status };
      }
      const { error } = outcome;
      const isLimited = error instanceof ApiError && error.status === 429 && waits < MAX_WAITS;
      if (!isLimited) return noAnswer(error);
      await sleep((error.retryAfter ?? 1) * 1000, controller.signal);
    }
  } catch (error) {
    return noAnswer(error);
  }
}

/** How long to wait between two requests, in milliseconds. */
export const PACES = [
  { ms: 0, label: 'As fast as possible' },
  { ms: 200, label: '5 per second' },
  { ms: 1000, label: '1 per second' },
  { ms: 5000, label: '1 every 5 seconds' },
] as const;

/** Results that the remaining time is estimated from, because the rate of a target changes, and the minimum of them. */
export const MAX_RECENT = 20;
const MIN_RECENT = 3;

/**
 * Milliseconds until the other requests of a run are sent, at the rate of the latest results. `ends`: when the run
 * started, then when each result arrived. It grows while the target does not respond. `undefined` after few results.
 */
export function remainingMs(ends: readonly number[], left: number, now: number): number | undefined {
  const [first] = ends;
  const last = ends.at(-1);
  const results = ends.length - 1;
  if (first === undefined || last === undefined || results < MIN_RECENT) return undefined;
  return left * Math.max((last - first) / results, (now - first) / (results + 1));
}

/** Resolves after a time, or when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
