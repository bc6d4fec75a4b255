import { indexOfUnsavedId } from '@creel/contract';
import type { CapturedRequest, LiveDelivery, LiveMessage } from '@creel/contract';
import { dropRowsBelow } from './limit-requests.ts';
import type { Accepts } from './request-filter.ts';
import { isDropped, isHidden, isInGap, positionOf, rowOf } from './request-list.ts';
import type { Gap, ListedRequest, RequestList } from './request-list.ts';

const acceptsAll: Accepts = () => true;

/** Maximum number of rows that are compared with a query while the user types it. */
const MAX_EXAMINED_ROWS = 200;

/** A range of the list as loaded: complete from index `from` to index `to`, both inclusive. */
export interface IndexRange {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly CapturedRequest[];
}

/** The row with the later delivery of two copies of a request, because pages and messages overtake each other. */
function withLaterDelivery(row: ListedRequest, { lastDelivery, deliveryPending }: CapturedRequest): ListedRequest {
  const known = row.lastDelivery;
  const isLater = known === null || (lastDelivery !== null && lastDelivery.at >= known.at);
  return isLater ? { ...row, lastDelivery, deliveryPending } : row;
}

/**
 * Sorts rows newest first and keeps each index once. A saved row wins over an unsaved one, because a save is never
 * undone.
 */
export function newestFirst(rows: readonly ListedRequest[]): ListedRequest[] {
  const byIndex = new Map<number, ListedRequest>();
  for (const row of rows) {
    const before = byIndex.get(row.index);
    if (before === undefined) byIndex.set(row.index, row);
    else if (row.saved && !before.saved) byIndex.set(row.index, withLaterDelivery(row, before));
    else if (row.lastDelivery !== before.lastDelivery || row.deliveryPending !== before.deliveryPending)
      byIndex.set(row.index, withLaterDelivery(before, row));
  }
  return [...byIndex.values()].toSorted((a, b) => b.index - a.index);
}

/** The rows that a list can show: without deleted, cleared and empty ones. */
const visibleOf = ({ clearedTo, deleted }: RequestList, rows: readonly CapturedRequest[]): CapturedRequest[] =>
  rows.filter((row) => row.index > clearedTo && !deleted.has(row.index) && !isHidden(row));

/**
 * Merges a loaded range into the list. What is between the range and the known rows becomes a gap. `final` is true for
 * an `init`, which is in order with the live messages: rows that it does not contain are removed. A page may miss a
 * request that was just saved or received, so it only adds rows.
 */
export function mergeRange(list: RequestList, range: IndexRange, accepts = acceptsAll, final = false): RequestList {
  const { from, to } = range;
  const { fresh, undecided } = classify(visibleOf(list, range.rows), accepts);
  const named = new Set(fresh.map((row) => row.index));
  const stays = (row: ListedRequest): boolean => !final || row.index < from || row.index > to || named.has(row.index);
  const rows = newestFirst([...list.rows.filter(stays), ...fresh]);
  const gaps = undecided.map(gapOf).reduce(openGap, gapsAfter(list, from, to));
  return { ...list, rows, gaps: withoutDeleted(gaps, list.deleted), newest: Math.max(list.newest, to) };
}

/** Splits rows into those that belong to a list and those that only the server can decide on, by their indexes. */
function classify(rows: readonly CapturedRequest[], accepts: Accepts) {
  const classified = rows.map((row) => ({ row, verdict: accepts(row) }));
  return {
    fresh: classified.flatMap(({ row, verdict }) => (verdict === true ? [row] : [])),
    undecided: classified.flatMap(({ row, verdict }) => (verdict === undefined ? [row.index] : [])),
  };
}

/** Adds a gap, and joins the gaps that it connects. */
function openGap(gaps: readonly Gap[], opened: Gap): readonly Gap[] {
  const isApart = (gap: Gap): boolean => gap.before <= opened.after || gap.after >= opened.before;
  const joined = gaps
    .filter((gap) => !isApart(gap))
    .reduce((a, b) => ({ before: Math.max(a.before, b.before), after: Math.min(a.after, b.after) }), opened);
  return [...gaps.filter(isApart), joined].toSorted((a, b) => b.before - a.before);
}

const gapOf = (index: number): Gap => ({ before: index + 1, after: index - 1 });

/** Gaps that contain these indexes, which are newest first, and no row. So many indexes need few searches. */
function gapsAround(rows: readonly ListedRequest[], indexes: readonly number[]): readonly Gap[] {
  const gaps: Gap[] = [];
  for (const index of indexes) {
    const last = gaps.at(-1);
    const isJoined = last !== undefined && positionOf(rows, last.after) === positionOf(rows, index);
    if (isJoined) gaps[gaps.length - 1] = { ...last, after: index - 1 };
    else gaps.push(gapOf(index));
  }
  return gaps;
}

function gapsAfter(list: RequestList, from: number, to: number): readonly Gap[] {
  const known = list.newest + 1 < from ? [{ before: from, after: list.newest }, ...list.gaps] : list.gaps;
  return known.flatMap((gap) => cutGap(gap, from, to));
}

/** What remains of a gap after the indexes from `from` to `to` are known. */
function cutGap(gap: Gap, from: number, to: number): Gap[] {
  if (to <= gap.after || from >= gap.before) return [gap];
  const rest = [
    { before: gap.before, after: to },
    { before: from, after: gap.after },
  ];
  return rest.filter((part) => part.before - part.after > 1);
}

/** Shortens gaps whose newest requests are deleted, because there is nothing to load. */
function withoutDeleted(gaps: readonly Gap[], deleted: ReadonlySet<number>): readonly Gap[] {
  return gaps.flatMap((gap) => {
    let from = gap.before;
    while (deleted.has(from - 1)) from -= 1;
    return from === gap.before ? [gap] : cutGap(gap, from, gap.before - 1);
  });
}

/**
 * The range of a page loaded with `?before=`. A full page is complete down to its last row, a shorter one down to the
 * start.
 */
export function pageRange(rows: readonly CapturedRequest[], more: boolean, before: number | undefined): IndexRange {
  const last = rows.at(-1)?.index ?? 0;
  const first = rows[0]?.index ?? -1;
  return { from: more ? last : 0, to: before === undefined ? first : before - 1, rows };
}

/** Joins two pages with the same `before`. Together they are complete down to the higher of their ends. */
export function joinPages(a: IndexRange, b: IndexRange): IndexRange {
  const from = Math.max(a.from, b.from);
  return { from, to: Math.max(a.to, b.to), rows: [...a.rows, ...b.rows].filter((row) => row.index >= from) };
}

/** Adds live captures. They normally arrive in order; a late one is inserted at its place. */
export function addLive(list: RequestList, captures: readonly CapturedRequest[], accepts: Accepts): RequestList {
  const newest = captures.reduce((top, row) => Math.max(top, row.index), list.newest);
  const { fresh, undecided } = classify(newestFirst(visibleOf(list, captures)), accepts);
  const first = list.rows[0]?.index ?? -1;
  const inOrder = fresh.every((row) => row.index > first);
  const rows =
    fresh.length === 0 ? list.rows : inOrder ? [...fresh, ...list.rows] : newestFirst([...list.rows, ...fresh]);
  return { ...list, rows, newest, gaps: undecided.map(gapOf).reduce(openGap, list.gaps) };
}

/**
 * Replaces an unsaved request by the saved one, even if the unsaved one was not loaded. A list of unsaved requests
 * loses it.
 */
export function putSaved(list: RequestList, saved: CapturedRequest, accepts: Accepts): RequestList {
  const at = positionOf(list.rows, saved.index);
  const known = list.rows[at];
  if (known?.index === saved.index)
    // A dropped request was stored again, without its history.
    return replaceRow(list, at, isDropped(list, known) ? saved : withLaterDelivery(saved, known), accepts);
  const unknown = saved.index > list.newest || isInGap(list, saved.index);
  return unknown || isHidden(saved) ? list : addLive(list, [saved], accepts);
}

/** Replaces a row, or removes it if the list does not accept the new one. */
function replaceRow(list: RequestList, at: number, row: ListedRequest, accepts: Accepts): RequestList {
  return { ...list, rows: accepts(row) === false ? list.rows.toSpliced(at, 1) : list.rows.with(at, row) };
}

/** Updates the deliveries of a request. A list whose query it does not match then drops it. */
function putDelivery(
  list: RequestList,
  { index, lastDelivery, deliveryPending }: LiveDelivery,
  accepts: Accepts,
): RequestList {
  const at = positionOf(list.rows, index);
  const row = list.rows[at];
  if (row?.index !== index) return list;
  return replaceRow(list, at, { ...row, lastDelivery, deliveryPending }, accepts);
}

/** Removes a request by its id, saved or unsaved. */
function dropRequest(list: RequestList, id: number): RequestList {
  const index = indexOfUnsavedId(id) ?? list.rows.find((row) => row.id === id)?.index;
  if (index === undefined) return list;
  const row = rowOf(list, index);
  if (row === undefined && list.deleted.has(index)) return list;
  // The request was saved in the meantime: only the unsaved copy is deleted.
  if (row !== undefined && row.id !== id) return list;
  return dropRequests(list, [{ index }]);
}

/** Removes requests that are about to be deleted. */
export function dropRequests(list: RequestList, requests: readonly Pick<ListedRequest, 'index'>[]): RequestList {
  const indexes = new Set(requests.map((request) => request.index));
  const rows = list.rows.filter((row) => !indexes.has(row.index));
  const deleted = new Set([...list.deleted, ...indexes]);
  return { ...list, rows, deleted, gaps: withoutDeleted(list.gaps, deleted) };
}

/** Restores requests whose deletion was undone or failed. Dropped and cleared ones are not restored. */
export function restoreRequests(
  list: RequestList,
  requests: readonly ListedRequest[],
  accepts: Accepts = acceptsAll,
): RequestList {
  const deleted = new Set(list.deleted);
  for (const { index } of requests) deleted.delete(index);
  const stored = requests.filter((row) => !isDropped(list, row) && !isInGap(list, row.index));
  const undecided = new Set(stored.filter((row) => accepts(row) === undefined));
  const back = addLive(
    { ...list, deleted },
    stored.filter((row) => !undecided.has(row)),
    accepts,
  );
  const indexes = [...undecided].map(({ index }) => index).toSorted((a, b) => b - a);
  const opened = gapsAround(back.rows, indexes);
  const again = opened.reduce((sum, gap) => sum + gap.before - gap.after - 1, 0);
  return { ...back, gaps: opened.reduce(openGap, back.gaps), searched: Math.max(0, back.searched - again) };
}

/** Empties the list. A page that is still loading does not restore the rows. */
function clearList(list: RequestList): RequestList {
  return { ...list, rows: [], gaps: [], clearedTo: list.newest, deleted: new Set(), searched: 0 };
}

/** Applies the messages of one frame in order. */
export function applyMessages(
  list: RequestList,
  messages: readonly LiveMessage[],
  initSize: number,
  accepts: Accepts = acceptsAll,
): RequestList {
  let next = list;
  let run: CapturedRequest[] = [];
  for (const message of messages) {
    if (message.type === 'request') {
      run.push(message.data);
      continue;
    }
    if (run.length > 0) next = addLive(next, run, accepts);
    run = [];
    next = applyMessage(next, message, initSize, accepts);
  }
  return run.length > 0 ? addLive(next, run, accepts) : next;
}

function applyMessage(list: RequestList, message: LiveMessage, initSize: number, accepts: Accepts): RequestList {
  if (message.type === 'init') return applyInit(list, message.data, initSize, accepts);
  if (message.type === 'saved') return putSaved(list, message.data.request, accepts);
  if (message.type === 'delivery') return putDelivery(list, message.data, accepts);
  if (message.type === 'deleted') return dropRequest(list, message.data.id);
  if (message.type === 'clear') return clearList(list);
  return list;
}

/**
 * Replaces the list by the newest requests of an `init`. Older rows become a gap, because messages about them may have
 * been missed. Held rows stay until they are released.
 */
function applyInit(
  list: RequestList,
  rows: readonly CapturedRequest[],
  initSize: number,
  accepts: Accepts,
): RequestList {
  const range = pageRange(rows, rows.length >= initSize, undefined);
  if (range.to < 0) return { ...list, rows: [], gaps: [], searched: 0 };
  const known = { ...list, searched: rows.length };
  const covered = mergeRange(known, { ...range, to: Math.max(range.to, list.newest) }, accepts, true);
  return list.hold === undefined ? dropRowsBelow(covered, range.from) : { ...covered, staleBelow: range.from };
}

/**
 * Starts the list of a query with what is loaded of all requests, down to the first request that only the server can
 * decide on. Everything below is a gap.
 */
export function startSearch(all: RequestList, accepts: Accepts): RequestList {
  const examined = all.rows.slice(0, MAX_EXAMINED_ROWS);
  const end = examined.findIndex((row) => accepts(row) === undefined);
  const known = end < 0 ? examined : examined.slice(0, end);
  const floor = known.at(-1)?.index ?? all.newest + 1;
  const list = known.length === all.rows.length ? all : dropRowsBelow(all, floor);
  return { ...list, rows: known.filter((row) => accepts(row)), searched: known.length };
}
