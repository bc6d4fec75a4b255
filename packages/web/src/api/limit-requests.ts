import { positionOf } from './request-list.ts';
import { labelOf } from './row-label.ts';
import type { ListedRequest, RequestList } from './request-list.ts';

/** Rows kept while requests stream in and nobody scrolls: what was dropped is one page away. */
export const LIVE_ROWS = 2000;

/** Rows kept above what somebody is reading. */
export const WAITING_ROWS = 1000;

/** Characters of bodies and headers that the rows of one list keep (about 48 MB); beyond it the older ones become slim. */
export const LIST_BUDGET = 48 * 1024 * 1024;

/** Trimming waits until a quarter more is there, so that it is not done for every capture. */
const SLACK = 1.25;

/** Indexes forgotten at most: enough for every page that can still be on its way. */
const DELETED_KEPT = 5000;

/** Drops the rows below an index; they become a gap that a page can fill again. */
export function forgetBelow(list: RequestList, index: number): RequestList {
  if (index <= 0) return list;
  const rows = list.rows.slice(0, positionOf(list.rows, index - 1));
  const gaps = list.gaps.filter((gap) => gap.after >= index - 1);
  const cut = list.gaps.find((gap) => gap.before > index && gap.after < index - 1);
  return { ...list, rows, gaps: [...gaps, { before: cut?.before ?? index, after: -1 }] };
}

/** Drops the rows between two rows that stay; they become a gap. */
function forgetBetween(list: RequestList, upper: number, lower: number): RequestList {
  const rows = list.rows.filter((row) => row.index >= upper || row.index <= lower);
  const above = list.gaps.filter((gap) => gap.after >= upper);
  const below = list.gaps.filter((gap) => gap.before <= lower);
  return { ...list, rows, gaps: [...above, { before: upper, after: lower }, ...below] };
}

/** Bounds the rows in memory: the oldest go, or, while something is held, those between the newest and what is held. */
export function limitRows(list: RequestList): RequestList {
  const { rows, hold } = list;
  if (hold === undefined) {
    const last = rows.length > LIVE_ROWS * SLACK ? rows[LIVE_ROWS - 1] : undefined;
    return last === undefined ? list : forgetBelow(list, last.index);
  }
  const held = positionOf(rows, hold);
  const upper = held > WAITING_ROWS * SLACK ? rows[WAITING_ROWS - 1] : undefined;
  const lower = rows[held];
  return upper === undefined || lower === undefined ? list : forgetBetween(list, upper.index, lower.index);
}

/** Holds the rows up to an index, or lets go with `undefined`; then what became doubtful meanwhile is dropped. */
export function holdRows(list: RequestList, hold: number | undefined): RequestList {
  if (hold !== undefined || list.staleBelow === undefined) return list.hold === hold ? list : { ...list, hold };
  return { ...forgetBelow(list, list.staleBelow), hold: undefined, staleBelow: undefined };
}

/** What the server stored at a moment: how many unsaved requests, when `newest` was the newest that the page knew of. */
export interface StoredUnsaved {
  readonly count: number;
  readonly newest: number;
}

/**
 * The index below which the server keeps no unsaved requests any more: it drops the oldest without a message (contract 3). Where a
 * save or a deletion came in between, too few are taken for dropped, never too many. Undefined where the list has a gap above it.
 */
export function unsavedFloor(list: RequestList, stored: StoredUnsaved): number | undefined {
  if (list.hold !== undefined) return undefined;
  if (stored.count === 0) return stored.newest + 1;
  let seen = 0;
  const row = list.rows.find(({ saved, index }) => !saved && index <= stored.newest && ++seen === stored.count);
  const complete = row !== undefined && list.gaps.every((gap) => gap.before <= row.index);
  return complete ? row.index : undefined;
}

/**
 * Drops the unsaved rows below an index. What is there becomes a gap, so that a row that was dropped too early comes back with the
 * next page. Held rows stay in sight.
 */
export function dropUnsavedBelow(list: RequestList, floor: number): RequestList {
  if (list.hold !== undefined || !list.rows.some((row) => !row.saved && row.index < floor)) return list;
  const rows = list.rows.filter((row) => row.saved || row.index >= floor);
  const gaps = list.gaps.filter((gap) => gap.after >= floor - 1);
  return { ...list, rows, gaps: [...gaps, { before: floor, after: -1 }] };
}

/** Characters that a row keeps alive. */
function weightOf(row: ListedRequest): number {
  if (row.slim !== undefined) return 0;
  return (
    row.rawHeaders.reduce((sum, [name, value]) => sum + name.length + value.length, 0) * 2 + (row.body?.length ?? 0)
  );
}

/** Takes bodies and headers from the older rows once all rows together are over the budget. */
export function slimRows(list: RequestList, budget = LIST_BUDGET): RequestList {
  let left = budget;
  const rows = list.rows.map((row) => {
    left -= weightOf(row);
    return left >= 0 || row.slim !== undefined ? row : slimRow(row);
  });
  return left >= 0 ? list : { ...list, rows };
}

function slimRow(row: ListedRequest): ListedRequest {
  return { ...row, body: null, bodyTruncated: row.body !== null, headers: {}, rawHeaders: [], slim: labelOf(row) };
}

/** Forgets the oldest deletions. */
export function limitDeleted(list: RequestList): RequestList {
  if (list.deleted.size <= DELETED_KEPT) return list;
  return { ...list, deleted: new Set([...list.deleted].slice(-DELETED_KEPT / 2)) };
}
