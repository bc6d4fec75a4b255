import type { CapturedRequest } from '@creel/contract';
import type { RowLabel } from './row-label.ts';

/** A row of the list. A `slim` one gave body and headers back to the memory and kept its label; details fetch the rest again. */
export type ListedRequest = CapturedRequest & { readonly slim?: RowLabel };

/** Indexes strictly between `after` and `before` may hold requests that were not loaded. The one at the end has `after` -1. */
export interface Gap {
  readonly before: number;
  readonly after: number;
}

/**
 * What the page knows of an endpoint's requests: rows newest first, and the places where it knows that it does not know. An index is
 * never reused (contract 2), so every merge goes by index: a page that was read before a live message and arrives after it can
 * neither bring back what was deleted nor undo a save.
 */
export interface RequestList {
  readonly rows: readonly ListedRequest[];
  /** Newest first. */
  readonly gaps: readonly Gap[];
  /** The newest index ever heard of, of any method; -1 before the first. */
  readonly newest: number;
  /** Indexes that were deleted while the page was open. */
  readonly deleted: ReadonlySet<number>;
  /** Everything up to this index was cleared. */
  readonly clearedTo: number;
  /** While somebody reads further down or has paused: rows up to this index are not dropped to save memory. */
  readonly hold: number | undefined;
  /** Rows below this index may be out of date: an `init` came while they were held. */
  readonly staleBelow: number | undefined;
}

export const EMPTY_LIST: RequestList = {
  rows: [],
  gaps: [],
  newest: -1,
  deleted: new Set(),
  clearedTo: -1,
  hold: undefined,
  staleBelow: undefined,
};

/** The first position whose index is below or equal to `index`; rows are newest first. */
export function positionOf(rows: readonly ListedRequest[], index: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.index ?? -1) > index) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The row with this index, if it is loaded. */
export function rowOf(list: RequestList, index: number): ListedRequest | undefined {
  const row = list.rows[positionOf(list.rows, index)];
  return row?.index === index ? row : undefined;
}

/** A row that says nothing is not shown: no known method, or no path, headers or body and a size of zero (spec 2). */
export function isHidden(request: CapturedRequest): boolean {
  if (request.method === '' || request.method.toLowerCase() === 'unknown') return true;
  const empty =
    request.path === '' && request.rawHeaders.length === 0 && (request.body === null || request.body === '');
  return empty && request.size === 0;
}
