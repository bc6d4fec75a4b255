import { indexOfUnsavedId } from '@creel/contract';
import type { CapturedRequest, LiveMessage } from '@creel/contract';
import { dropRowsBelow } from './limit-requests.ts';
import { isDropped, isHidden, positionOf } from './request-list.ts';
import type { Gap, ListedRequest, RequestList } from './request-list.ts';

/** All requests of one method, or of every method. */
export type MethodFilter = string | undefined;

/** A range of the list as loaded: complete from index `from` to index `to`, both inclusive. */
export interface IndexRange {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly CapturedRequest[];
}

/**
 * Sorts rows newest first and keeps each index once. A saved row wins over an unsaved one, because a save is never
 * undone.
 */
export function newestFirst(rows: readonly ListedRequest[]): ListedRequest[] {
  const byIndex = new Map<number, ListedRequest>();
  for (const row of rows) {
    const before = byIndex.get(row.index);
    if (before === undefined || (row.saved && !before.saved)) byIndex.set(row.index, row);
  }
  return [...byIndex.values()].toSorted((a, b) => b.index - a.index);
}

/** The rows that are visible: each index once, newest first, without deleted, cleared and empty ones. */
export function mergeRequests(...lists: readonly (readonly CapturedRequest[])[]): ListedRequest[] {
  return newestFirst(lists.flat().filter((row) => !isHidden(row)));
}

function isGone(list: RequestList, row: CapturedRequest): boolean {
  return row.index <= list.clearedTo || list.deleted.has(row.index);
}

/**
 * Merges a loaded range into the list. What is between the range and the known rows becomes a gap. `final` is true if
 * the range is in order with the live messages (an `init`): rows in the range that it does not contain are removed. A
 * page loads in parallel to the live messages and may miss a request that was just saved or received, so it only adds
 * rows.
 */
export function mergeRange(list: RequestList, stretch: IndexRange, method?: MethodFilter, final = false): RequestList {
  const { from, to } = stretch;
  const fresh = stretch.rows.filter(
    (row) => !isGone(list, row) && !isHidden(row) && (method === undefined || row.method === method),
  );
  const named = new Set(fresh.map((row) => row.index));
  const stays = (row: ListedRequest): boolean => !final || row.index < from || row.index > to || named.has(row.index);
  const rows = newestFirst([...list.rows.filter(stays), ...fresh]);
  return { ...list, rows, gaps: gapsAfter(list, from, to), newest: Math.max(list.newest, to) };
}

function gapsAfter(list: RequestList, from: number, to: number): Gap[] {
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

/**
 * The range of a page loaded with `?before=`: a full page is complete down to its last row, a shorter one down to the
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
export function addLive(list: RequestList, captures: readonly CapturedRequest[], method?: MethodFilter): RequestList {
  const newest = captures.reduce((top, row) => Math.max(top, row.index), list.newest);
  const fresh = mergeRequests(captures).filter(
    (row) => !isGone(list, row) && (method === undefined || row.method === method),
  );
  const first = list.rows[0]?.index ?? -1;
  const inOrder = fresh.every((row) => row.index > first);
  const rows =
    fresh.length === 0 ? list.rows : inOrder ? [...fresh, ...list.rows] : newestFirst([...list.rows, ...fresh]);
  return { ...list, rows, newest };
}

/** Replaces an unsaved request by the saved one, even if the unsaved one was not loaded. */
export function putSaved(list: RequestList, saved: CapturedRequest, method?: MethodFilter): RequestList {
  const at = positionOf(list.rows, saved.index);
  if (list.rows[at]?.index === saved.index) return { ...list, rows: list.rows.with(at, saved) };
  const unknown =
    saved.index > list.newest || list.gaps.some((gap) => saved.index > gap.after && saved.index < gap.before);
  return unknown || isHidden(saved) ? list : addLive(list, [saved], method);
}

/** Removes a request by its id, saved or unsaved. */
export function dropRequest(list: RequestList, id: number): RequestList {
  const index = indexOfUnsavedId(id) ?? list.rows.find((row) => row.id === id)?.index;
  if (index === undefined) return list;
  const row = list.rows[positionOf(list.rows, index)];
  // The request was saved in the meantime: only the unsaved copy is deleted.
  if (row?.index === index && row.id !== id) return list;
  return {
    ...list,
    rows: list.rows.filter((other) => other.index !== index),
    deleted: new Set(list.deleted).add(index),
  };
}

/** Removes requests that are about to be deleted. */
export function dropRequests(list: RequestList, requests: readonly ListedRequest[]): RequestList {
  const indexes = new Set(requests.map((request) => request.index));
  return {
    ...list,
    rows: list.rows.filter((row) => !indexes.has(row.index)),
    deleted: new Set([...list.deleted, ...indexes]),
  };
}

/** Restores requests whose deletion was undone or failed. Dropped and cleared ones stay away. */
export function restoreRequests(
  list: RequestList,
  requests: readonly ListedRequest[],
  method?: MethodFilter,
): RequestList {
  const deleted = new Set(list.deleted);
  for (const { index } of requests) deleted.delete(index);
  const stored = requests.filter((row) => !isDropped(list, row) && !isInGap(list, row.index));
  return addLive({ ...list, deleted }, stored, method);
}

/** True if requests around this index are not loaded. They are loaded together, so a single one would be out of place. */
const isInGap = (list: RequestList, index: number): boolean =>
  list.gaps.some((gap) => index > gap.after && index < gap.before);

/** Empties the list. A page that is still loading does not restore the rows. */
export function clearList(list: RequestList): RequestList {
  return { ...list, rows: [], gaps: [], clearedTo: list.newest, deleted: new Set() };
}

/** Applies the messages of one frame in order. */
export function applyMessages(
  list: RequestList,
  messages: readonly LiveMessage[],
  initSize: number,
  method?: MethodFilter,
): RequestList {
  let next = list;
  let run: CapturedRequest[] = [];
  for (const message of messages) {
    if (message.type === 'request') {
      run.push(message.data);
      continue;
    }
    if (run.length > 0) next = addLive(next, run, method);
    run = [];
    next = applyMessage(next, message, initSize, method);
  }
  return run.length > 0 ? addLive(next, run, method) : next;
}

function applyMessage(list: RequestList, message: LiveMessage, initSize: number, method: MethodFilter): RequestList {
  if (message.type === 'init') return applyInit(list, message.data, initSize, method);
  if (message.type === 'saved') return putSaved(list, message.data.request, method);
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
  method: MethodFilter,
): RequestList {
  const stretch = pageRange(rows, rows.length >= initSize, undefined);
  if (stretch.to < 0) return { ...list, rows: [], gaps: [] };
  const covered = mergeRange(list, { ...stretch, to: Math.max(stretch.to, list.newest) }, method, true);
  return list.hold === undefined ? dropRowsBelow(covered, stretch.from) : { ...covered, staleBelow: stretch.from };
}
