import { ApiError, targetOf, textOf } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { bodyOnPage, withRequestId } from '../../api/body-queries.ts';
import { client, errorMessage, failsForAll, isEndpointDeleted, isNotFound, toastFailure } from '../../api/client.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { finishBeforeLogout } from '../../api/session.ts';
import { forgetRequest, hideRequests, showSaved } from '../../api/list-cache.ts';
import { toBase64 } from '../../bodies/encoding.ts';
import { askBeforeLeaving } from '../../ui/before-leaving.ts';
import { formatCount } from '../../ui/format.ts';
import { toast } from '../../ui/toast-store.ts';
import { runEach } from './bulk/run-each.ts';

/** Milliseconds in which the deletion of several requests can be undone. */
const UNDO_MS = 5000;

/** True if the endpoint has its maximum of saved requests. */
export const isSavedLimit = (error: unknown): boolean => error instanceof ApiError && error.code === 'SAVED_LIMIT';

/** Saves a request. A dropped one is restored if the page still has all of it. */
export async function saveRequest(uid: string, request: ListedRequest): Promise<void> {
  const saved = await client
    .call('saveRequest', { params: { uid }, body: { index: request.index } })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return restore(uid, request, error);
    });
  showSaved(uid, saved);
}

async function restore(uid: string, request: ListedRequest, missing: unknown): Promise<CapturedRequest> {
  const bytes = bodyOnPage(uid, request);
  if (bytes === undefined) throw missing;
  const { index, method, rawHeaders, sourceIp, timestamp } = request;
  const text = textOf(bytes);
  const restored = await client.call('restoreRequest', {
    params: { uid },
    body: {
      index,
      method,
      rawTarget: targetOf(request),
      rawHeaders,
      body: bytes.length === 0 ? null : (text ?? toBase64(bytes)),
      bodyEncoding: text === undefined ? 'base64' : 'utf8',
      sourceIp,
      timestamp,
    },
  });
  queryClient.setQueryData<CapturedRequest>(queryKeys.request(uid, index), restored);
  return restored;
}

export const REQUEST_SAVED = {
  title: 'Request saved',
  description: 'The webhook request has been saved successfully.',
};

/** Saves a request. Toasts say how it ended. */
export function useSaveRequest(uid: string) {
  return useMutation({
    mutationFn: (request: ListedRequest) => saveRequest(uid, request),
    onSuccess: () => toast(REQUEST_SAVED),
    onError: (error) => toastFailure(error, saveFailure(error), { title: 'Save failed' }),
  });
}

/** The server's message for a full endpoint; else the generic one. */
function saveFailure(error: unknown): string {
  const fallback = 'Failed to save the webhook request.';
  return isSavedLimit(error) ? errorMessage(error, fallback) : fallback;
}

/**
 * Removes requests from the list at once, and puts back those that could not be deleted. One request is deleted at
 * once too, because the user was asked. For several, a toast offers Undo first; a tab that is closed then deletes nothing.
 */
export function deleteRequests(uid: string, requests: readonly ListedRequest[], onRestored: () => void): void {
  const putBack = hideRequests(uid, requests);
  const send = async (): Promise<void> => {
    const remove = async (request: ListedRequest): Promise<void> => {
      await withRequestId(uid, request, (id) => client.call('deleteRequest', { params: { uid, id } })).catch(
        (error: unknown) => {
          if (!isNotFound(error) || isEndpointDeleted(error)) throw error;
        },
      );
      forgetRequest(uid, request.id);
    };
    const { failed, unstarted } = await runEach(requests, remove, { isFatal: failsForAll });
    const [first] = failed;
    // With their endpoint, all of them are deleted.
    if (first === undefined || isEndpointDeleted(first.error)) return;
    const left = putBack([...failed.map(({ item }) => item), ...unstarted]);
    // The answers are lost, but the live connection has reported the deletions.
    if (left.length === 0) return;
    onRestored();
    toastFailure(first.error, deleteFailure(left.length, requests.length), { title: 'Delete failed' });
  };
  const [request] = requests;
  if (request !== undefined && requests.length === 1) {
    toast({ title: 'Request deleted', description: `${request.method} ${request.path} #${request.index}` });
    void send();
    return;
  }
  deleteLater(requests.length, send, () => {
    putBack();
    onRestored();
  });
}

/** Calls `send` after 5 seconds or before a logout, and until then offers Undo, which calls `onUndo` instead. */
function deleteLater(count: number, send: () => Promise<void>, onUndo: () => void): void {
  let sending: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    clearTimeout(timer);
    closeToast();
    // Each request takes a call.
    const stopAsking = askBeforeLeaving();
    await send();
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

function deleteFailure(failed: number, all: number): string {
  if (all === 1) return 'Failed to delete the webhook request.';
  return `${formatCount(failed)} of ${formatCount(all)} requests could not be deleted.`;
}
