import { useState } from 'react';
import type { RequestFilter } from '../../../api/request-filter.ts';
import { isDropped, positionOf, rowOf } from '../../../api/request-list.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { readList } from '../../../api/request-lists.ts';
import type { ListItems } from '../list-items.ts';

/** The requests that are selected for bulk actions. */
export interface Marks {
  readonly marked: ReadonlySet<number>;
  /** Those that are still stored, newest first. */
  readonly requests: readonly ListedRequest[];
  readonly mark: (request: ListedRequest, range: boolean) => void;
  readonly setAll: (requests: readonly ListedRequest[]) => void;
  /** The ids of saved requests have changed. The list has the new ones of those that are loaded. */
  readonly setSaved: (indexes: ReadonlySet<number>) => void;
  readonly clear: () => void;
}

interface MarksState {
  /** The filter under which they were selected. */
  readonly filter: string;
  readonly rows: ReadonlyMap<number, ListedRequest>;
}

const NONE: MarksState = { filter: '', rows: new Map() };

/** A change of the filter clears the selection, so that no action affects requests that are not shown. */
export function useMarks(uid: string, items: ListItems, { method = '', query = '' }: RequestFilter): Marks {
  const [state, setState] = useState(NONE);
  const [last, setLast] = useState<number>();
  const filter = `${method} ${query}`;
  const rows = state.filter === filter ? state.rows : NONE.rows;
  const requests = stillStored(uid, rows);
  return {
    marked: new Set(requests.map((request) => request.index)),
    requests,
    mark(request, range) {
      const isRange = range && last !== undefined;
      const next = isRange ? new Map([...rows, ...between(items, last, request.index)]) : toggled(rows, request);
      setState({ filter, rows: next });
      setLast(request.index);
    },
    setAll: (all) => setState({ filter, rows: new Map(all.map((row) => [row.index, row])) }),
    setSaved(indexes) {
      setState((now) => ({
        ...now,
        rows: new Map([...now.rows].map(([index, row]) => [index, indexes.has(index) ? { ...row, saved: true } : row])),
      }));
    },
    clear: () => setState(NONE),
  };
}

/** The selected requests that still exist, in their newest version. */
function stillStored(uid: string, rows: ReadonlyMap<number, ListedRequest>): ListedRequest[] {
  if (rows.size === 0) return [];
  const list = readList(uid);
  return [...rows.values()]
    .map((row) => rowOf(list, row.index) ?? row)
    .filter((row) => row.index > list.clearedTo && !list.deleted.has(row.index) && !isDropped(list, row))
    .toSorted((a, b) => b.index - a.index);
}

function toggled(rows: ReadonlyMap<number, ListedRequest>, request: ListedRequest): Map<number, ListedRequest> {
  const next = new Map(rows);
  if (!next.delete(request.index)) next.set(request.index, request);
  return next;
}

/** The visible requests from one to another. */
function between(items: ListItems, from: number, to: number): [number, ListedRequest][] {
  const start = positionOf(items.rows, Math.max(from, to));
  const end = positionOf(items.rows, Math.min(from, to));
  return items.rows.slice(start, end + 1).map((row) => [row.index, row]);
}
