import { isDropped, positionOf, labelOf } from './request-list.ts';
import type { ListedRequest, RequestList } from './request-list.ts';

/**
 * Maximum number of rows while requests stream in and the user does not scroll. Dropped rows can be loaded again as a page.
 */
export const MAX_LIVE_ROWS = 2000;

/** Maximum number of rows above the row that the user is reading. */
const WAITING_ROWS = 1000;

/**
 * Maximum number of characters of bodies and headers in the rows of one list (about 48 MB). Beyond it, older rows become
 * slim.
 */
const MAX_LIST_CHARACTERS = 48 * 1024 * 1024;

/** Rows are trimmed when they exceed the limit by a quarter, so that trimming does not run for every capture. */
const SLACK = 1.25;

/** Maximum number of deleted indexes to remember: more than any page that is still loading can contain. */
const MAX_DELETED_INDEXES = 5000;

/** Drops the rows below an index. They become a gap, which can be loaded again. */
export function dropRowsBelow(list: RequestList, index: number): RequestList {
  if (index <= 0) return list;
  const rows = list.rows.slice(0, positionOf(list.rows, index - 1));
  const gaps = list.gaps.filter((gap) => gap.after >= index - 1);
  const cut = list.gaps.find((gap) => gap.before > index && gap.after < index - 1);
  return { ...list, rows, gaps: [...gaps, { before: cut?.before ?? index, after: -1 }] };
}

/** Drops the rows between two rows that stay. They become a gap. */
function dropRowsBetween(list: RequestList, upper: number, lower: number): RequestList {
  const rows = list.rows.filter((row) => row.index >= upper || row.index <= lower);
  const above = list.gaps.filter((gap) => gap.after >= upper);
  const below = list.gaps.filter((gap) => gap.before <= lower);
  return { ...list, rows, gaps: [...above, { before: upper, after: lower }, ...below] };
}

/**
 * Limits the rows in memory. Drops the oldest, or, while the list is held, the rows between the newest and the held
 * ones.
 */
export function limitRows(list: RequestList): RequestList {
  const { rows, hold } = list;
  if (hold === undefined) {
    const last = rows.length > MAX_LIVE_ROWS * SLACK ? rows[MAX_LIVE_ROWS - 1] : undefined;
    return last === undefined ? list : dropRowsBelow(list, last.index);
  }
  const held = positionOf(rows, hold);
  const upper = held > WAITING_ROWS * SLACK ? rows[WAITING_ROWS - 1] : undefined;
  const lower = rows[held];
  return upper === undefined || lower === undefined ? list : dropRowsBetween(list, upper.index, lower.index);
}

/** Holds the rows up to an index. `undefined` releases them, and drops the rows that are dropped on the server or
 * may be out of date. */
export function holdRows(list: RequestList, hold: number | undefined): RequestList {
  if (list.hold === hold) return list;
  if (hold !== undefined) return { ...list, hold };
  const fresh = list.staleBelow === undefined ? list : dropRowsBelow(list, list.staleBelow);
  return dropUnsavedBelow({ ...fresh, hold: undefined, staleBelow: undefined }, list.droppedBelow);
}

/** How many unsaved requests the server stored when `newest` was its newest index. The page may know newer ones. */
export interface StoredUnsaved {
  readonly count: number;
  readonly newest: number;
}

/**
 * The index below which the server has dropped its unsaved requests without a pending delivery; it drops the oldest
 * without a message. If a save or a deletion came in between, the result is too low, never too high. `undefined` if the
 * list has a gap above that index.
 */
export function unsavedFloor(list: RequestList, stored: StoredUnsaved): number | undefined {
  if (stored.count === 0) return stored.newest + 1;
  const unsaved = list.rows.filter(({ saved, index }) => !saved && index <= stored.newest);
  // Pending ones are stored at any index, so the others tell where the stored ones end.
  let left = stored.count - unsaved.filter((row) => row.deliveryPending).length;
  let floor: number | undefined;
  for (const { deliveryPending, index } of unsaved) {
    if (!deliveryPending) left -= 1;
    if (left < 0) break;
    floor = index;
  }
  const complete = left <= 0 && list.gaps.every((gap) => gap.before <= (floor ?? 0));
  return complete ? floor : undefined;
}

/**
 * Drops the unsaved rows below an index that have no pending delivery. With `leavesGap` they become a gap, so the next
 * page restores a row that was dropped too early. Held rows stay, and are known as dropped.
 */
export function dropUnsavedBelow(list: RequestList, floor: number, leavesGap = true): RequestList {
  if (floor > list.droppedBelow) return dropUnsavedBelow({ ...list, droppedBelow: floor }, floor, leavesGap);
  if (list.hold !== undefined || !list.rows.some((row) => isDropped(list, row))) return list;
  const rows = list.rows.filter((row) => !isDropped(list, row));
  if (!leavesGap) return { ...list, rows };
  const gaps = list.gaps.filter((gap) => gap.after >= list.droppedBelow - 1);
  return { ...list, rows, gaps: [...gaps, { before: list.droppedBelow, after: -1 }] };
}

/** Number of characters that a row keeps in memory. */
function memoryLength(row: ListedRequest): number {
  if (row.slim !== undefined) return 0;
  return (
    row.rawHeaders.reduce((sum, [name, value]) => sum + name.length + value.length, 0) * 2 + (row.body?.length ?? 0)
  );
}

/** Drops bodies and headers of the older rows if all rows together exceed the limit. */
export function slimRows(list: RequestList, budget = MAX_LIST_CHARACTERS): RequestList {
  let left = budget;
  const rows = list.rows.map((row) => {
    left -= memoryLength(row);
    return left >= 0 || row.slim !== undefined ? row : slimRow(row);
  });
  return left >= 0 ? list : { ...list, rows };
}

/** The row without body and headers. */
export function slimRow(row: ListedRequest): ListedRequest {
  return { ...row, body: null, bodyTruncated: row.body !== null, headers: {}, rawHeaders: [], slim: labelOf(row) };
}

/** Drops the oldest remembered deletions. */
export function limitDeleted(list: RequestList): RequestList {
  if (list.deleted.size <= MAX_DELETED_INDEXES) return list;
  return { ...list, deleted: new Set([...list.deleted].slice(-MAX_DELETED_INDEXES / 2)) };
}
