import { ApiError, targetOf, textOf } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { bodyOnPage } from '../../api/body-queries.ts';
import { client, errorMessage, failsForAll, isNotFound, toastFailure } from '../../api/client.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { showSaved } from '../../api/list-cache.ts';
import { toBase64 } from '../../bodies/encoding.ts';
import { toast } from '../../ui/toast-store.ts';
import { runEach, runInParts } from './bulk/run-each.ts';
import type { RunEachOptions } from './bulk/run-each.ts';

/** True if the endpoint has its maximum of saved requests. */
const isSavedLimit = (error: unknown): boolean => error instanceof ApiError && error.code === 'SAVED_LIMIT';

/** Saves a request. A dropped one is restored if the page still has all of it. */
async function saveRequest(uid: string, request: ListedRequest): Promise<void> {
  const saved = await client
    .call('saveRequest', { params: { uid }, body: { index: request.index } })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return restore(uid, request, error);
    });
  showSaved(uid, [saved]);
}

/** True for an error of a save that all further ones would also have. */
export const endsSaving = (error: unknown): boolean => isSavedLimit(error) || failsForAll(error);

/**
 * Saves requests, as many as the endpoint has room for. Returns the indexes of those that were saved, and those that
 * failed with their errors.
 */
export async function saveRequests(
  uid: string,
  requests: readonly ListedRequest[],
  options: Required<Pick<RunEachOptions, 'signal' | 'onProgress'>>,
) {
  const saved = new Set<number>();
  const failures: { readonly item: ListedRequest; readonly error: unknown }[] = [];
  const saveOne = async (request: ListedRequest): Promise<void> => {
    await saveRequest(uid, request);
    saved.add(request.index);
  };
  const isUnsaved = ({ index }: ListedRequest): boolean => !saved.has(index);
  const savePart = async (part: readonly ListedRequest[]): Promise<void> => {
    if (part.length > 1) for (const { index } of await saveStored(uid, part)) saved.add(index);
    // The first that is left tells whether the endpoint is full. If not, they are dropped, and restored by calls for each.
    const left = part.filter(isUnsaved);
    const canSave = (request: ListedRequest): boolean => request === left[0] || bodyOnPage(uid, request) !== undefined;
    const { failed } = await runEach(left.filter(canSave), saveOne, { signal: options.signal, isFatal: endsSaving });
    const end = failed.find(({ error }) => endsSaving(error));
    if (end !== undefined) throw end.error;
    const notStored = new ApiError(404, 'This request does not exist.');
    failures.push(
      ...failed,
      ...left.filter((request) => !canSave(request)).map((item) => ({ item, error: notStored })),
    );
  };
  const { failed } = await runInParts(requests, savePart, { ...options, isFatal: endsSaving });
  for (const { item, error } of failed)
    failures.push(...item.filter(isUnsaved).map((request) => ({ item: request, error })));
  return { saved, failed: failures };
}

/** Saves those of some requests that are stored, while there is room, and returns them. */
async function saveStored(uid: string, requests: readonly ListedRequest[]): Promise<readonly CapturedRequest[]> {
  const indexes = requests.map(({ index }) => index);
  const answer = await client.call('saveRequests', { params: { uid }, body: { indexes } });
  const ids = new Map(answer.map(({ index, id }) => [index, id]));
  const saved = requests.flatMap((request) => {
    const id = ids.get(request.index);
    return id === undefined ? [] : [{ ...request, id, saved: true }];
  });
  showSaved(uid, saved);
  return saved;
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
      body: text ?? toBase64(bytes),
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
