import type { CapturedRequest } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { client, errorMessage } from '../../api/client.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { hideRequest, showSaved } from '../../api/request-lists.ts';
import { toast } from '../../ui/toast-store.ts';

const REQUEST_SAVED = {
  title: 'Request saved',
  description: 'The webhook request has been saved successfully.',
};

/** Number of parallel calls of a bulk action. */
const MAX_PARALLEL_CALLS = 4;

function save(uid: string, index: number): Promise<CapturedRequest> {
  return client.call('saveRequest', { params: { uid }, body: { index } });
}

export function useSaveRequest(uid: string) {
  return useMutation({
    mutationFn: (index: number) => save(uid, index),
    onSuccess: (request) => {
      showSaved(uid, request);
      toast(REQUEST_SAVED);
    },
    onError: (error) => toast({ title: 'Save failed', description: saveFailure(error), variant: 'destructive' }),
  });
}

/** The server's message for a full endpoint; else the generic one. */
function saveFailure(error: unknown): string {
  const fallback = 'Failed to save the webhook request.';
  return error instanceof Error && 'code' in error && error.code === 'SAVED_LIMIT'
    ? errorMessage(error, fallback)
    : fallback;
}

async function removeRequest(uid: string, request: ListedRequest): Promise<void> {
  const putBack = hideRequest(uid, request);
  try {
    await client.call('deleteRequest', { params: { uid, id: request.id } });
  } catch (error) {
    putBack();
    throw error;
  }
}

/** Removed from the list at once, and restored if the call fails. */
export function useDeleteRequest(uid: string) {
  return useMutation({
    mutationFn: (request: ListedRequest) => removeRequest(uid, request),
    onError: () =>
      toast({ title: 'Delete failed', description: 'Failed to delete the webhook request.', variant: 'destructive' }),
  });
}

/** Saves several requests and shows one message with the result. */
export function useSaveRequests(uid: string) {
  return useMutation({
    mutationFn: (requests: readonly ListedRequest[]) =>
      eachOf(requests, async (request) => showSaved(uid, await save(uid, request.index))),
    onSuccess: (failed, requests) => {
      const done = requests.length - failed;
      if (failed === 0 && done === 1) toast(REQUEST_SAVED);
      else if (failed === 0) toast({ title: `${done} requests saved` });
      else
        toast({
          title: 'Save failed',
          description: `${failed} of ${requests.length} requests could not be saved.`,
          variant: 'destructive',
        });
    },
  });
}

export function useDeleteRequests(uid: string) {
  return useMutation({
    mutationFn: (requests: readonly ListedRequest[]) => eachOf(requests, (request) => removeRequest(uid, request)),
    onSuccess: (failed, requests) => {
      if (failed === 0) return;
      toast({
        title: 'Delete failed',
        description: `${failed} of ${requests.length} requests could not be deleted.`,
        variant: 'destructive',
      });
    },
  });
}

/** Runs an action on many items, a few at a time. Returns the number of failures. */
async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<number> {
  let failed = 0;
  let next = 0;
  const work = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      try {
        await act(item);
      } catch {
        failed++;
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL_CALLS }, work));
  return failed;
}
