import { ApiError, targetOf, textOf } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { bodyOnPage } from '../../api/body-queries.ts';
import { client, errorMessage, isNotFound, toastFailure } from '../../api/client.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { showSaved } from '../../api/list-cache.ts';
import { toBase64 } from '../../bodies/encoding.ts';
import { toast } from '../../ui/toast-store.ts';

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
