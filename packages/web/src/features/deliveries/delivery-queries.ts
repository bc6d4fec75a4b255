import { ApiError, LEAVES_BASE_PATH, endToEndHeaders, forwardedUrl, leavesBasePath, targetOf } from '@creel/contract';
import type { DeliveryAttempt, Destination, DestinationChange, DestinationCreate, ReplayAnswer } from '@creel/contract';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { withRequestId, readWholeRequest } from '../../api/body-queries.ts';
import { client } from '../../api/client.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { stateLabel } from './delivery-labels.ts';

const MINUTE_MS = 60_000;

/** Milliseconds between two reads of the destinations while they are on the screen, and while only a pause is. */
const DESTINATIONS_MS = 2000;
const PAUSED_MS = 10_000;

/** What waits for its first attempt, then the last attempts, newest first. Live messages load them again. */
export const deliveriesQuery = (uid: string, request: ListedRequest) =>
  queryOptions({
    queryKey: queryKeys.deliveries(uid, request.index),
    queryFn: ({ signal }): Promise<DeliveryAttempt[]> =>
      withRequestId(uid, request, (id) =>
        client.call('listDeliveries', { params: { uid, id }, query: { planned: 'true' } }, signal),
      ),
    gcTime: MINUTE_MS,
    staleTime: 0,
  });

function changeList(uid: string, change: (list: readonly Destination[]) => Destination[]): void {
  const queryKey = queryKeys.destinations(uid);
  // A read that started before the change must not undo it.
  void queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData<Destination[]>(queryKey, (list) => list && change(list));
}

function putDestination(uid: string, saved: Destination): void {
  changeList(uid, (list) =>
    list.some(({ id }) => id === saved.id)
      ? list.map((each) => (each.id === saved.id ? saved : each))
      : [...list, saved],
  );
}

/** Sends a delivery of a destination again. A live message shows the result. */
export function useSendAgain(uid: string, { deliveryId, destinationId, nextAttemptAt }: DeliveryAttempt) {
  return useMutation({
    /** `activate`: turns the destination on, or resumes it, before. */
    mutationFn: async ({ activate }: { readonly activate: boolean }) => {
      if (activate && destinationId !== null) {
        const params = { uid, id: String(destinationId) };
        putDestination(uid, await client.call('changeDestination', { params, body: { enabled: true } }));
        // Everything that waits for the destination is sent then.
        if (nextAttemptAt !== null) return;
      }
      await client.call('retryDelivery', { params: { uid, deliveryId } });
    },
  });
}

/** The destinations of an endpoint, oldest first. */
export const destinationsQuery = (uid: string) =>
  queryOptions({
    queryKey: queryKeys.destinations(uid),
    queryFn: ({ signal }) => client.call('listDestinations', { params: { uid } }, signal),
    staleTime: 0,
    refetchInterval: DESTINATIONS_MS,
  });

/** Whether the server has paused a destination of an endpoint after failures. */
export function useHasPausedDestination(uid: string): boolean {
  const select = (list: readonly Destination[]): boolean => list.some((each) => stateLabel(each).text === 'Paused');
  return (
    useQuery({ ...destinationsQuery(uid), select, staleTime: PAUSED_MS, refetchInterval: PAUSED_MS }).data ?? false
  );
}

/** Adds a destination, or changes the one with this id. */
export function useSaveDestination(uid: string, id: number | undefined) {
  return useMutation({
    mutationFn: (body: Omit<DestinationCreate, 'enabled'>) =>
      id === undefined
        ? client.call('createDestination', { params: { uid }, body })
        : client.call('changeDestination', { params: { uid, id: String(id) }, body }),
    onSuccess: (saved) => putDestination(uid, saved),
  });
}

/** Changes a destination. The list has the response at once. */
export function useChangeDestination(uid: string, id: number) {
  return useMutation({
    mutationFn: (body: DestinationChange) =>
      client.call('changeDestination', { params: { uid, id: String(id) }, body }),
    onSuccess: (changed) => putDestination(uid, changed),
  });
}

/** Deletes a destination and takes it off the list. */
export function useDeleteDestination(uid: string, id: number) {
  return useMutation({
    mutationFn: () => client.call('deleteDestination', { params: { uid, id: String(id) } }),
    onSuccess: () => changeList(uid, (list) => list.filter((each) => each.id !== id)),
  });
}

/** Sends a captured request to a destination as a replay, with the path and the signature that forwarding would use. */
export function useTestDestination(uid: string, { url, appendPath, sign }: Destination) {
  return useMutation({
    mutationFn: async (listed: ListedRequest): Promise<ReplayAnswer> => {
      if (appendPath && leavesBasePath(url, targetOf(listed))) throw new ApiError(400, LEAVES_BASE_PATH);
      const request = await readWholeRequest(uid, listed);
      return withRequestId(uid, listed, (id) => {
        const stored = { endpointUid: uid, id };
        const body = {
          method: request.method,
          url: forwardedUrl(url, appendPath, targetOf(request)),
          headers: endToEndHeaders(request.rawHeaders).map(([key, value]) => ({ key, value })),
          of: stored,
          sign,
        };
        return client.call('replay', { body: request.size === 0 ? body : { ...body, bodyFrom: stored } });
      });
    },
  });
}
