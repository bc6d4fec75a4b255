import { withRequestId } from '../../api/body-queries.ts';
import { client, failsForAll, isEndpointDeleted, isNotFound, toastFailure } from '../../api/client.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { finishBeforeLogout } from '../../api/session.ts';
import { forgetRequests, hideRequests } from '../../api/list-cache.ts';
import { askBeforeLeaving } from '../../ui/before-leaving.ts';
import { formatCount } from '../../ui/format.ts';
import { signal, useSignal } from '../../ui/state.ts';
import { toast, toastError } from '../../ui/toast-store.ts';
import { runInParts } from './bulk/run-each.ts';
import type { RunEachOptions } from './bulk/run-each.ts';

/** Milliseconds in which the deletion of several requests can be undone. */
const UNDO_MS = 5000;
/** Milliseconds of calls before their progress is shown. */
const SLOW_MS = 1000;

/** Several requests that the list hides and the server still stores. */
interface Deletion {
  readonly uid: string;
  readonly label: 'Deleting';
  readonly total: number;
  /** How many of them are deleted. */
  readonly done: number;
  /** True if the calls take so long that their progress is shown. */
  readonly isSlow: boolean;
  readonly stop: () => void;
}

/** The deletions that can be undone or have not ended, by their controllers. */
const deletions = signal<ReadonlyMap<AbortController, Deletion>>(new Map());

/** How many requests the list hides, because they are being deleted, and the deletion whose progress is shown. */
export function useDeletions(uid: string) {
  const own = [...useSignal(deletions).values()].filter((deletion) => deletion.uid === uid);
  return {
    hiddenCount: own.reduce((sum, { total }) => sum + total, 0),
    deletion: own.find(({ isSlow }) => isSlow),
  };
}

/** Shows a deletion until `end` is called. */
function showDeletion(uid: string, total: number) {
  const controller = new AbortController();
  const change = (part: Partial<Deletion>): void => {
    const known = deletions.read().get(controller);
    if (known !== undefined) deletions.set(new Map(deletions.read()).set(controller, { ...known, ...part }));
  };
  const shown: Deletion = { uid, label: 'Deleting', total, done: 0, isSlow: false, stop: () => controller.abort() };
  deletions.set(new Map(deletions.read()).set(controller, shown));
  return {
    signal: controller.signal,
    change,
    end: () => deletions.set(new Map([...deletions.read()].filter(([key]) => key !== controller))),
  };
}

/** Restores those of some requests that are not deleted, and returns them. */
type Restore = (some?: readonly ListedRequest[]) => readonly ListedRequest[];

/**
 * Removes requests from the list at once, and puts back those that could not be deleted. One request is deleted at
 * once too, because the user was asked. For several, a toast offers Undo first; a tab that is closed then deletes nothing.
 */
export function deleteRequests(
  uid: string,
  requests: readonly ListedRequest[],
  onRestored: (restored: readonly ListedRequest[]) => void,
): void {
  const putBack = hideRequests(uid, requests);
  const restore: Restore = (some) => {
    const restored = putBack(some);
    if (restored.length > 0) onRestored(restored);
    return restored;
  };
  const [request] = requests;
  if (request !== undefined && requests.length === 1) {
    toast({ title: 'Request deleted', description: `${request.method} ${request.path} #${request.index}` });
    void send(uid, requests, restore);
    return;
  }
  const shown = showDeletion(uid, requests.length);
  const sendAll = async (): Promise<void> => {
    // Changes nothing after the end.
    setTimeout(() => shown.change({ isSlow: true }), SLOW_MS);
    await send(uid, requests, restore, { signal: shown.signal, onProgress: (done) => shown.change({ done }) });
    shown.end();
  };
  deleteLater(requests.length, sendAll, () => {
    shown.end();
    restore();
  });
}

/** Deletes requests in parts. `onProgress` gets the number of deleted ones. */
async function send(
  uid: string,
  requests: readonly ListedRequest[],
  restore: Restore,
  options?: RunEachOptions,
): Promise<void> {
  const remove = async (part: readonly ListedRequest[]): Promise<void> => {
    await removeStored(uid, part);
    forgetRequests(
      uid,
      part.map(({ id }) => id),
    );
  };
  const { failed, unstarted } = await runInParts(requests, remove, { ...options, isFatal: failsForAll });
  const [first] = failed;
  // With their endpoint, all of them are deleted.
  if (first !== undefined && isEndpointDeleted(first.error)) return;
  const left = restore([...failed.map(({ item }) => item), ...unstarted].flat());
  // None if the answers are lost, but the live connection has reported the deletions.
  if (left.length === 0) return;
  const failure = { title: 'Delete failed' };
  if (first !== undefined && requests.length === 1)
    toastFailure(first.error, 'Failed to delete the webhook request.', failure);
  // Also at the end of the session, because the login dialog does not say how many were deleted.
  else if (first !== undefined)
    toastError(
      `${formatCount(left.length)} of ${formatCount(requests.length)} requests could not be deleted.`,
      failure,
    );
  else
    toast({
      title: 'Deletion stopped',
      description: `${formatCount(left.length)} of ${formatCount(requests.length)} requests were not deleted.`,
    });
}

/** Ignores requests that are deleted already. */
async function removeStored(uid: string, requests: readonly ListedRequest[]): Promise<void> {
  const [request, ...others] = requests;
  if (request === undefined) return;
  // By index, because the id changes when a request is saved.
  if (others.length > 0)
    await client.call('deleteRequests', { params: { uid }, body: { indexes: requests.map(({ index }) => index) } });
  else
    await withRequestId(uid, request, (id) => client.call('deleteRequest', { params: { uid, id } })).catch(
      (error: unknown) => {
        if (!isNotFound(error) || isEndpointDeleted(error)) throw error;
      },
    );
}

/** Calls `sendAll` after 5 seconds or before a logout, and until then offers Undo, which calls `onUndo` instead. */
function deleteLater(count: number, sendAll: () => Promise<void>, onUndo: () => void): void {
  let sending: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    clearTimeout(timer);
    closeToast();
    // Many requests take several calls.
    const stopAsking = askBeforeLeaving();
    await sendAll();
    stopAsking();
    forget();
  };
  const finish = (): Promise<void> => (sending ??= start());
  const timer = setTimeout(() => void finish(), UNDO_MS);
  const forget = finishBeforeLogout(finish);
  const undo = (): void => {
    clearTimeout(timer);
    forget();
    onUndo();
  };
  const closeToast = toast({
    title: `${formatCount(count)} requests deleted`,
    // The timer closes the toast, so that Undo is never offered too late.
    duration: Number.POSITIVE_INFINITY,
    action: { label: 'Undo', run: undo },
  });
}
