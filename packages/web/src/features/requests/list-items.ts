import { positionOf, rowOf } from '../../api/request-list.ts';
import type { Gap, ListedRequest, RequestList } from '../../api/request-list.ts';

/** An item of the list: a request, or a gap of requests that are not loaded. */
type ListItem =
  | { readonly kind: 'request'; readonly request: ListedRequest }
  | { readonly kind: 'gap'; readonly gap: Gap };

export type ListItems = ReturnType<typeof itemsOf>;
export type Waiting = ReturnType<typeof waitingOf>;

/** Counts the requests that have arrived since the list was held. `more` is true if there are gaps between them. */
export function waitingOf(list: RequestList) {
  const { hold } = list;
  if (hold === undefined) return { count: 0, more: false };
  return {
    count: positionOf(list.rows, hold),
    more: list.gaps.some((gap) => gap.after >= hold && gap.before > hold + 1),
  };
}

/** The visible items of a list: without waiting requests, with an item for each gap. */
export function listItems(list: RequestList): ListItems {
  const { hold } = list;
  if (hold === undefined) return itemsOf(list.rows, list.gaps);
  const seen = list.rows.slice(positionOf(list.rows, hold));
  return itemsOf(
    seen,
    list.gaps.filter((gap) => gap.after < hold),
  );
}

function itemsOf(rows: readonly ListedRequest[], gaps: readonly Gap[]) {
  /** The positions of the gaps, each after the rows that are newer. */
  const gapPositions = gaps.map((gap, before) => positionOf(rows, gap.before - 1) + before);
  const gapsBefore = (position: number): number => gapPositions.filter((each) => each < position).length;
  return {
    rows,
    count: rows.length + gaps.length,
    at(position: number): ListItem | undefined {
      const gap = gaps[gapPositions.indexOf(position)];
      if (gap !== undefined) return { kind: 'gap', gap };
      const request = rows[position - gapsBefore(position)];
      return request === undefined ? undefined : { kind: 'request', request };
    },
    /** The position of a request in the list; -1 if it is not there. */
    positionOfIndex(index: number): number {
      const at = positionOf(rows, index);
      if (rows[at]?.index !== index) return -1;
      return at + gaps.filter((gap) => gap.before > index).length;
    },
    /** True if requests between two indexes, in any order, are not loaded. */
    hasGap(from: number, to: number): boolean {
      return gaps.some((gap) => gap.before > Math.min(from, to) && gap.after < Math.max(from, to));
    },
    /** A request by its index, if it is in the list. */
    find: (index: number) => rowOf({ rows }, index),
  };
}

/**
 * The next or previous request in the list; the first one if the given request is not there. `undefined` at the end and
 * before a gap, whose requests are being loaded.
 */
export function neighbor(items: ListItems, index: number | undefined, step: 1 | -1): ListedRequest | undefined {
  const position = index === undefined ? -1 : items.positionOfIndex(index);
  if (position < 0) return items.rows[0];
  const item = items.at(position + step);
  return item?.kind === 'request' ? item.request : undefined;
}

/** The requests of the list from one index to another, in any order. They need not be in the list. */
export function between(items: Pick<ListItems, 'rows'>, from: number, to: number): readonly ListedRequest[] {
  const start = positionOf(items.rows, Math.max(from, to));
  const end = positionOf(items.rows, Math.min(from, to) - 1);
  return items.rows.slice(start, end);
}
