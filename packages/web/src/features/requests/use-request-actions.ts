import { useState } from 'react';
import { useSignedOut } from '../../api/connection.ts';
import { useUser } from '../../api/queries.ts';
import { positionOf } from '../../api/request-list.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import type { ListItems } from './list-items.ts';
import { useDeleteRequest, useDeleteRequests, useSaveRequest, useSaveRequests } from './request-mutations.ts';
import type { Selection } from './use-selection.ts';

export interface RequestActions {
  /** True if the session has ended: nothing can be saved. */
  readonly anonymous: boolean;
  readonly save: (request: ListedRequest) => void;
  readonly isSaving: (request: ListedRequest) => boolean;
  readonly remove: (request: ListedRequest) => void;
  /** Indexes of the requests that are selected for bulk actions. */
  readonly marked: ReadonlySet<number>;
  readonly markedRequests: readonly ListedRequest[];
  readonly mark: (request: ListedRequest, range: boolean) => void;
  readonly clearMarks: () => void;
  readonly saveMarked: () => void;
  readonly removeMarked: () => void;
  readonly busy: boolean;
}

/** The actions on one or many requests. */
export function useRequestActions(uid: string, items: ListItems, selection: Selection): RequestActions {
  const [marked, setMarked] = useState<ReadonlySet<number>>(new Set());
  const [lastMarked, setLastMarked] = useState<number>();
  const saving = useSaveRequest(uid);
  const savingMany = useSaveRequests(uid);
  const removing = useDeleteRequest(uid);
  const removingMany = useDeleteRequests(uid);
  const signedOut = useSignedOut();
  const markedRequests = items.rows.filter((row) => marked.has(row.index));
  const anonymous = useUser() === null || signedOut;
  return {
    anonymous,
    save(request) {
      if (!request.saved && !anonymous) saving.mutate(request.index);
    },
    isSaving: (request) => saving.isPending && saving.variables === request.index,
    remove(request) {
      // A native confirmation dialog.
      if (!confirm('Are you sure you want to delete this request?')) return;
      const wasOpen = selection.current?.index === request.index;
      selection.leave(request);
      removing.mutate(request, { onError: () => (wasOpen ? selection.open(request) : undefined) });
    },
    marked,
    markedRequests,
    mark(request, range) {
      setMarked(
        range && lastMarked !== undefined
          ? withRange(marked, items, lastMarked, request.index)
          : toggled(marked, request.index),
      );
      setLastMarked(request.index);
    },
    clearMarks: () => setMarked(new Set()),
    saveMarked() {
      savingMany.mutate(markedRequests.filter((request) => !request.saved));
    },
    removeMarked() {
      const count = markedRequests.length;
      const asked =
        count === 1
          ? 'Are you sure you want to delete this request?'
          : `Are you sure you want to delete these ${count} requests?`;
      if (!confirm(asked)) return;
      setMarked(new Set());
      removingMany.mutate(markedRequests);
    },
    busy: savingMany.isPending || removingMany.isPending,
  };
}

function toggled(marked: ReadonlySet<number>, index: number): Set<number> {
  const next = new Set(marked);
  if (!next.delete(index)) next.add(index);
  return next;
}

/** Selects everything from one request to another. */
function withRange(marked: ReadonlySet<number>, items: ListItems, from: number, to: number): Set<number> {
  const start = positionOf(items.rows, Math.max(from, to));
  const end = positionOf(items.rows, Math.min(from, to));
  return new Set([...marked, ...items.rows.slice(start, end + 1).map((row) => row.index)]);
}
