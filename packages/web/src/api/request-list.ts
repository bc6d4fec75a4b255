import type { CapturedRequest } from '@creel/contract';
import { firstPosition } from '../bodies/first-position.ts';

/**
 * A row of the list. A `slim` row has dropped its body and headers to save memory and kept its label. The details load
 * them again.
 */
export type ListedRequest = CapturedRequest & { readonly slim?: RowLabel };

/** The props of a part of the details of a request. */
export interface RequestPartProps {
  readonly uid: string;
  readonly request: ListedRequest;
}

/**
 * Indexes strictly between `after` and `before` may hold requests that are not loaded. `after` is -1 for the last gap.
 */
export interface Gap {
  readonly before: number;
  readonly after: number;
}

/**
 * The loaded requests of an endpoint, newest first, with the gaps between them. An index is never reused, so every
 * merge uses indexes. If a page was read before a live message and arrives after it, it neither restores a deleted
 * request nor undoes a save.
 */
export interface RequestList {
  readonly rows: readonly ListedRequest[];
  /** Newest first. */
  readonly gaps: readonly Gap[];
  /** The newest known index, of any method; -1 if there is none. */
  readonly newest: number;
  /** Indexes that were deleted while the page was open. */
  readonly deleted: ReadonlySet<number>;
  /** Everything up to this index was cleared. */
  readonly clearedTo: number;
  /**
   * Set while the user reads further down or has paused the list. Rows up to this index are not dropped to save
   * memory.
   */
  readonly hold: number | undefined;
  /** Rows below this index may be out of date, because an `init` arrived while they were held. */
  readonly staleBelow: number | undefined;
  /**
   * The server has dropped the unsaved requests below this index, except those with a pending delivery. Held rows stay
   * visible, marked as dropped.
   */
  readonly droppedBelow: number;
  /** Number of stored requests that were compared with the query of the list. */
  readonly searched: number;
}

/** A list of which nothing is loaded. */
export const EMPTY_LIST: RequestList = {
  rows: [],
  gaps: [],
  newest: -1,
  deleted: new Set(),
  clearedTo: -1,
  hold: undefined,
  staleBelow: undefined,
  droppedBelow: 0,
  searched: 0,
};

/** The first position whose index is at or below `index`. Rows are newest first. */
export function positionOf(rows: readonly ListedRequest[], index: number): number {
  return firstPosition(rows.length, (at) => (rows[at]?.index ?? -1) <= index);
}

/** The row with this index, if it is loaded. */
export function rowOf(list: Pick<RequestList, 'rows'>, index: number): ListedRequest | undefined {
  const row = list.rows[positionOf(list.rows, index)];
  return row?.index === index ? row : undefined;
}

/** True if requests around this index are not loaded. They are loaded together, so a single one is not shown. */
export function isInGap(list: RequestList, index: number): boolean {
  return list.gaps.some((gap) => index > gap.after && index < gap.before);
}

/** True if the server has dropped an unsaved request to keep newer ones. It keeps those with a pending delivery. */
export function isDropped(list: Pick<RequestList, 'droppedBelow'>, row: ListedRequest): boolean {
  return !row.saved && !row.deliveryPending && row.index < list.droppedBelow;
}

/** True for a request without a known method, or without path, headers, body and size. Such rows are hidden. */
export function isHidden(request: CapturedRequest): boolean {
  if (request.method === '' || request.method.toLowerCase() === 'unknown') return true;
  const empty =
    request.path === '' && request.rawHeaders.length === 0 && (request.body === null || request.body === '');
  return empty && request.size === 0;
}

/** What a row shows besides method and path. */
export interface RowLabel {
  readonly source: string;
  /** The event type, or the first fields of a form; else empty. */
  readonly event: string;
}

/** The label of a row. */
export function labelOf(request: ListedRequest): RowLabel {
  const { slim, source, eventType, contentType, body, bodyEncoding } = request;
  if (slim !== undefined) return slim;
  const text = bodyEncoding === 'utf8' ? (body ?? '') : '';
  return { source, event: eventType ?? formBeginning(contentType, text) };
}

/** Maximum number of characters of a form that are shown as its event. */
const FORM_BEGINNING = 80;

/** Forms have no event type, so their first fields are shown. */
function formBeginning(contentType: string | null, text: string): string {
  return /x-www-form-urlencoded/i.test(contentType ?? '') ? text.slice(0, FORM_BEGINNING) : '';
}
