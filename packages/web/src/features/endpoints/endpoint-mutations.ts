import { ApiError } from '@creel/contract';
import type { Endpoint, EndpointDetail, OperationInput, User } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { client, errorMessage, toastFailure } from '../../api/client.ts';
import { patchEndpoint } from '../../api/queries.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';
import { toast } from '../../ui/toast-store.ts';
import type { ToastInput } from '../../ui/toast-store.ts';

/** Creates an endpoint and shows it first in the list. Toasts say how it ended. */
export function useCreateEndpoint() {
  return useMutation({
    mutationFn: (body: OperationInput<'createEndpoint'>['body']) => client.call('createEndpoint', { body }),
    onSuccess: (endpoint) => {
      queryClient.setQueryData<Endpoint[]>(queryKeys.endpoints, (list) =>
        list === undefined ? list : [endpoint, ...list],
      );
      toast({ title: 'Endpoint Created' });
    },
    onError: (error) =>
      toastFailure(error, errorMessage(error, 'Failed to create the endpoint. Please try again.'), {
        action: upgradeFor(error),
      }),
    // Also after an error: the server may have created it, and the answer was lost.
    onSettled: () => void queryClient.invalidateQueries({ queryKey: queryKeys.endpoints }),
  });
}

/** Deletes an endpoint, takes it off the list, and leaves its page. Toasts say how it ended. */
export function useDeleteEndpoint() {
  const router = useRouter();
  return useMutation({
    mutationFn: (uid: string) => client.call('deleteEndpoint', { params: { uid } }),
    onSuccess: (_, uid) => {
      const queryKey = queryKeys.endpoints;
      // A read that started before the deletion must not show the endpoint again.
      void queryClient.cancelQueries({ queryKey }).then(() => queryClient.invalidateQueries({ queryKey }));
      queryClient.setQueryData<Endpoint[]>(queryKey, (list) => list?.filter((endpoint) => endpoint.uid !== uid));
      toast({ title: 'Endpoint Deleted' });
      // Not in a callback of the button, because the live connection may have removed it before the answer arrives.
      if (router.matchRoute({ to: '/endpoints/$uid', params: { uid } }) !== false) void router.navigate({ to: '/' });
    },
    onError: (error) => toastFailure(error, 'Failed to delete the endpoint. Please try again.'),
  });
}

/** The live message `clear` empties the list. This updates only what the message does not cover. */
export function useClearRequests(uid: string) {
  return useMutation({
    mutationFn: () => client.call('clearRequests', { params: { uid } }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.endpoint(uid) });
      void queryClient.invalidateQueries({ queryKey: queryKeys.endpoints });
      toast({ title: 'Data Cleared' });
    },
    onError: (error) => toastFailure(error, 'Failed to clear the endpoint data. Please try again.'),
  });
}

/** Changes the name and the source of an endpoint. */
export function useEditEndpoint(uid: string) {
  return useMutation({
    mutationFn: (body: { readonly name: string; readonly source: string }) =>
      client.call('changeEndpoint', { params: { uid }, body }),
    onSuccess: (endpoint) => patchEndpoint(uid, endpoint),
  });
}

/**
 * Applies a change before the call. The returned function reverts the parts that `reverted` picks, and no updates that
 * have arrived since.
 */
async function applyNow(
  uid: string,
  change: Partial<Endpoint>,
  reverted: (before: Endpoint) => Partial<Endpoint>,
): Promise<() => void> {
  await queryClient.cancelQueries({ queryKey: queryKeys.endpoint(uid) });
  const before = queryClient.getQueryData<EndpointDetail>(queryKeys.endpoint(uid));
  patchEndpoint(uid, change);
  return () => (before === undefined ? undefined : patchEndpoint(uid, reverted(before)));
}

/** Optimistic: applied at once, reverted if the call fails. */
export function useSetFavorite(uid: string) {
  return useMutation({
    mutationFn: (isFavorite: boolean) => client.call('changeEndpoint', { params: { uid }, body: { isFavorite } }),
    onMutate: (wanted) =>
      applyNow(
        uid,
        wanted ? { isFavorite: 'true', expiresAt: null } : { isFavorite: 'false' },
        ({ isFavorite, expiresAt }) => ({ isFavorite, expiresAt }),
      ),
    onSuccess: (endpoint, isFavorite) => {
      patchEndpoint(uid, endpoint);
      toast(isFavorite ? FAVORITE_ON : FAVORITE_OFF);
    },
    onError: (error, _, rollBack) => {
      rollBack?.();
      toastFailure(error, favoriteFailure(error), { title: 'Update failed', action: upgradeFor(error) });
    },
  });
}

/** True if a limit of the plan was reached. */
export const isPlanLimit = (error: unknown): boolean => error instanceof ApiError && error.code === 'PLAN_LIMIT';

/** A button that leads to the plans, for a call that a larger plan would allow. The largest plan has no upgrade. */
function upgradeFor(error: unknown): ToastInput['action'] {
  const isLargest = queryClient.getQueryData<User | null>(queryKeys.user)?.subscriptionTier === 'PREMIUM';
  if (!isPlanLimit(error) || isLargest) return undefined;
  return { label: 'Upgrade', run: () => runCommand(COMMAND_IDS.subscription) };
}

const FAVORITE_ON = { title: 'Added to favorites', description: 'This endpoint will never expire.' };
const FAVORITE_OFF = {
  title: 'Removed from favorites',
  description: 'This endpoint will expire based on your subscription tier.',
};

function favoriteFailure(error: unknown): string {
  if (!(error instanceof ApiError) || error.status === 0) return 'Failed to update favorite setting. Please try again.';
  return error.sentence === '' ? `Failed to update favorite: ${error.status}` : error.sentence;
}

/** Optimistic: applied at once, reverted if the call fails. */
export function useSetAutosave(uid: string) {
  return useMutation({
    mutationFn: (autosave: boolean) => client.call('changeEndpoint', { params: { uid }, body: { autosave } }),
    onMutate: (wanted) => applyNow(uid, { autosave: wanted ? 'true' : 'false' }, ({ autosave }) => ({ autosave })),
    onSuccess: (endpoint, autosave) => {
      patchEndpoint(uid, endpoint);
      toast(autosave ? AUTOSAVE_ON : AUTOSAVE_OFF);
    },
    onError: (error, _, rollBack) => {
      rollBack?.();
      toastFailure(error, 'Failed to update autosave setting. Please try again.');
    },
  });
}

const AUTOSAVE_ON = { title: 'Autosave enabled', description: 'Webhook requests will be automatically saved.' };
const AUTOSAVE_OFF = { title: 'Autosave disabled', description: 'Webhook requests will need to be manually saved.' };
