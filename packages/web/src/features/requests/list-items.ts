import { queryOf, queryPairs } from '@creel/contract';
import { positionOf } from '../../api/request-list.ts';
import type { Gap, ListedRequest, RequestList } from '../../api/request-list.ts';
import { labelOf } from '../../api/row-label.ts';

/** A line of the list: a request, or the place of those that are not loaded. */
export type ListItem =
  | { readonly kind: 'request'; readonly request: ListedRequest }
  | { readonly kind: 'gap'; readonly gap: Gap };

export interface ListItems {
  readonly count: number;
  readonly rows: readonly ListedRequest[];
  readonly at: (position: number) => ListItem | undefined;
  /** The line of a request; -1 when it is not among them. */
  readonly positionOfIndex: (index: number) => number;
}

/** Requests that wait while the list is held. `more` when there are others between them that were not loaded. */
export interface Waiting {
  readonly count: number;
  readonly more: boolean;
}

/** The requests that came after the list was held. */
export function waitingOf(list: RequestList): Waiting {
  const { hold } = list;
  if (hold === undefined) return { count: 0, more: false };
  return {
    count: positionOf(list.rows, hold),
    more: list.gaps.some((gap) => gap.after >= hold && gap.before > hold + 1),
  };
}

/** What of a list is seen: without what waits, with a line for each gap; narrowed to a text, only what is loaded. */
export function listItems(list: RequestList, find: string): ListItems {
  const { hold } = list;
  const seen = hold === undefined ? list.rows : list.rows.slice(positionOf(list.rows, hold));
  if (find !== '') return itemsOf(narrow(seen, find), []);
  return itemsOf(seen, hold === undefined ? list.gaps : list.gaps.filter((gap) => gap.after < hold));
}

function itemsOf(rows: readonly ListedRequest[], gaps: readonly Gap[]): ListItems {
  /** Lines at which the gaps stand, each behind the rows that are newer. */
  const places = gaps.map((gap, before) => positionOf(rows, gap.before - 1) + before);
  const gapsBefore = (position: number): number => places.filter((place) => place < position).length;
  return {
    rows,
    count: rows.length + gaps.length,
    at(position) {
      const gap = gaps[places.indexOf(position)];
      if (gap !== undefined) return { kind: 'gap', gap };
      const request = rows[position - gapsBefore(position)];
      return request === undefined ? undefined : { kind: 'request', request };
    },
    positionOfIndex(index) {
      const at = positionOf(rows, index);
      if (rows[at]?.index !== index) return -1;
      return at + gaps.filter((gap) => gap.before > index).length;
    },
  };
}

/** Rows that contain a text in method, path, query, source or event, without regard to case. */
function narrow(rows: readonly ListedRequest[], find: string): ListedRequest[] {
  const wanted = find.toLowerCase();
  return rows.filter((row) => {
    const { source, event } = labelOf(row);
    const query = `${queryOf(row)} ${queryPairs(row).flat().join(' ')}`;
    return `${row.method} ${row.path} ${query} ${source} ${event} #${row.index}`.toLowerCase().includes(wanted);
  });
}

/** The request below or above another one in the list; the first when that one is not there. */
export function neighbour(items: ListItems, index: number | undefined, step: 1 | -1): ListedRequest | undefined {
  const { rows } = items;
  const at = index === undefined ? -1 : positionOf(rows, index);
  if (index === undefined || rows[at]?.index !== index) return rows[0];
  return rows[at + step];
}
