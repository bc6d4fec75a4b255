import { useState, useMemo } from 'react';
import { flushSync } from 'react-dom';
import { useIsAnonymous } from '../../api/queries.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { formatCount } from '../../ui/format.ts';
import { useLatest } from '../../ui/state.ts';
import { toast } from '../../ui/toast-store.ts';
import type { Bulk } from './bulk/use-bulk.ts';
import { findPartner } from './compare/find-partner.ts';
import { deleteRequests } from './delete-requests.ts';
import { useSaveRequest } from './request-mutations.ts';
import type { Selection } from './use-selection.ts';
import { useChangeView, useOpenInTab } from './use-view-state.ts';
import type { DetailTab } from './use-view-state.ts';

export type RequestActions = ReturnType<typeof useRequestActions>;

const NONE: ReadonlySet<number> = new Set();

/** Saves and deletes requests of the list. */
export function useRequestActions(uid: string, selection: Selection) {
  const saving = useSaveRequest(uid);
  const isAnonymous = useIsAnonymous();
  const [deleting, setDeleting] = useState(NONE);
  const remove = async (requests: readonly ListedRequest[], onDeleted?: () => void): Promise<void> => {
    if (requests.length === 0) return;
    flushSync(() => setDeleting(new Set(requests.map((request) => request.index))));
    await nextPaint();
    const isSure = confirm(deleteQuestion(requests.length));
    setDeleting(NONE);
    if (!isSure) return;
    const opened = requests.find((request) => request.index === selection.current?.index);
    // With several deleted, the neighbors may be among them.
    if (opened !== undefined && requests.length === 1) selection.leave(opened);
    else if (opened !== undefined) selection.close();
    onDeleted?.();
    deleteRequests(uid, requests, (restored) => {
      if (opened !== undefined && restored.some(({ index }) => index === opened.index)) selection.open(opened);
    });
  };
  const isSaving = (request: ListedRequest): boolean => saving.isPending && saving.variables.index === request.index;
  return {
    save(request: ListedRequest): void {
      if (!request.saved && !isAnonymous && !isSaving(request)) saving.mutate(request);
    },
    isSaving,
    /** Asks, then deletes. `onDeleted` runs if the user agrees. */
    remove: (requests: readonly ListedRequest[], onDeleted?: () => void) => void remove(requests, onDeleted),
    /** Indexes of the requests that the user is asked about. */
    deleting,
  };
}

function deleteQuestion(count: number): string {
  if (count === 1) return 'Are you sure you want to delete this request?';
  return `Are you sure you want to delete these ${formatCount(count)} requests?`;
}

const LOGIN_REASONS = {
  save: 'Authentication required to save requests',
  replay: 'Authentication required to replay requests',
} as const;

/** Why an action is disabled while nothing can be saved or sent; `undefined` if it works. */
export function useLoginReason(action: keyof typeof LOGIN_REASONS): string | undefined {
  return useIsAnonymous() ? LOGIN_REASONS[action] : undefined;
}

/** The browser's question blocks rendering, so the marked rows must be painted before it. */
function nextPaint(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

export type StableActions = ReturnType<typeof useStableActions>;

/**
 * What a row or the details can do with their request. The object stays the same, so that new captures render neither
 * the details nor the rows again.
 */
export function useStableActions(uid: string, selection: Selection, actions: RequestActions, bulk: Bulk) {
  const changeView = useChangeView();
  const openInTab = useOpenInTab();
  const latest = useLatest({ selection, actions, bulk, changeView, openInTab });
  return useMemo(
    () => ({
      onOpen: (request: ListedRequest) => latest.current.selection.open(request),
      /** Opens it in a new tab of the browser. */
      onOpenInTab: ({ index }: ListedRequest) => latest.current.openInTab({ request: index, compare: undefined }),
      onSave: (request: ListedRequest) => latest.current.actions.save(request),
      onDelete: (request: ListedRequest) => latest.current.actions.remove([request]),
      /** With `isRange`, marks everything from the last marked row to this one. */
      onMark: (request: ListedRequest, isRange: boolean) => latest.current.bulk.mark(request, isRange),
      /** Compares with the previous request of the same event type or path, else with a neighbor (`findPartner`). */
      async onCompare(request: ListedRequest): Promise<void> {
        const partner = await findPartner(uid, request);
        if (partner === undefined) toast({ title: 'There is no other request to compare with' });
        else latest.current.selection.compare(partner, request);
      },
      /** `undefined` selects the default tab of each request. */
      onTab: (tab: DetailTab | undefined) => latest.current.changeView({ tab }),
      onBack: () => latest.current.selection.back(),
    }),
    [latest, uid],
  );
}
