import { ApiError } from '@creel/contract';
import type { Endpoint, EndpointDetail, User } from '@creel/contract';
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { z } from 'zod';
import { storedValue } from '../ui/state.ts';
import { client } from './client.ts';
import { markSessionEnded, useSignedOut } from './session.ts';
import { queryClient, queryKeys } from './query-client.ts';

/** The user's settings as last loaded or saved; `null` before that. */
export const userSettingsPreference = storedValue(
  'userSettings',
  z
    .object({
      autoSaveNewEndpoints: z.boolean(),
      emailNotifyExpiry: z.boolean().exactOptional(),
      emailNotifySubscription: z.boolean().exactOptional(),
      email: z.string().exactOptional(),
    })
    .nullable(),
  null,
);

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** The logged-in user, or `null` after a 401. At the end of a session, the user stays for the screens that are open. */
export const userQuery = queryOptions({
  queryKey: queryKeys.user,
  queryFn: async ({ signal }): Promise<User | null> => {
    try {
      const user = await client.call('getUser', {}, signal);
      userSettingsPreference.set(user.settings);
      return user;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      const known = queryClient.getQueryData<User | null>(queryKeys.user) ?? null;
      if (known !== null) markSessionEnded();
      return known;
    }
  },
});

/** Stores the user after a change. */
export function putUser(user: User | null): void {
  // A read that started before the change must not undo it.
  void queryClient.cancelQueries({ queryKey: queryKeys.user });
  queryClient.setQueryData<User | null>(queryKeys.user, user);
}

/** What the server offers. */
export const serviceInfoQuery = queryOptions({
  queryKey: queryKeys.serviceInfo,
  queryFn: ({ signal }) => client.call('getServiceInfo', {}, signal),
});

/**
 * An interval for data that is loaded. A failed first load stays on the screen with its button, which would lose the
 * focus each time.
 */
export const onceLoaded =
  (intervalMs: number) =>
  ({ state }: { readonly state: { readonly data: unknown } }): number | false =>
    state.data === undefined ? false : intervalMs;

/** Options for data on the screen that another browser of the user can change. */
export const FOLLOWED = { refetchInterval: onceLoaded(30 * SECOND_MS), refetchOnWindowFocus: 'always' } as const;

/** Milliseconds after which the server counts as unreachable if it does not answer with the list of endpoints. */
const MAX_WAIT_MS = 10 * SECOND_MS;

/**
 * Endpoints fill up and expire, so the list is loaded again every 30 seconds while it is visible. This also notices a
 * server that is silent, because the browser's sockets stay open.
 */
export const endpointsQuery = queryOptions({
  queryKey: queryKeys.endpoints,
  queryFn: ({ signal }) =>
    client.call('listEndpoints', {}, AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)])),
  staleTime: 30 * SECOND_MS,
  gcTime: 5 * MINUTE_MS,
  refetchInterval: onceLoaded(30 * SECOND_MS),
  refetchOnWindowFocus: true,
});

/** Not cached. Retries failures three times, one second apart, but not 4xx responses. */
export const endpointQuery = (uid: string) =>
  queryOptions({
    queryKey: queryKeys.endpoint(uid),
    queryFn: async ({ signal }) => {
      const endpoint = await client.call('getEndpoint', { params: { uid } }, signal);
      updateListed(endpoint);
      return endpoint;
    },
    staleTime: 0,
    gcTime: 0,
    retry: (failures, error) => failures < 3 && !isRefusal(error),
    retryDelay: SECOND_MS,
  });

/** How the signatures of an endpoint's captures are checked, from the loaded endpoint. `null` without a secret. */
export function useSigning(uid: string): Endpoint['signing'] {
  const { data } = useQuery({ ...endpointQuery(uid), enabled: false, select: ({ signing }) => signing });
  return data ?? null;
}

/** Updates an endpoint in the cache: its own entry and the list. */
export function patchEndpoint(uid: string, change: Partial<Endpoint>): void {
  queryClient.setQueryData<EndpointDetail>(
    queryKeys.endpoint(uid),
    (endpoint) => endpoint && { ...endpoint, ...change },
  );
  patchListed(uid, change);
}

function patchListed(uid: string, change: Partial<Endpoint>): void {
  queryClient.setQueryData<Endpoint[]>(queryKeys.endpoints, (list) =>
    list?.map((endpoint) => (endpoint.uid === uid ? { ...endpoint, ...change } : endpoint)),
  );
}

/** Shows a loaded endpoint in the list, too, so that the sidebar and the page have the same figures. */
export function updateListed({ stats: _, retention: __, ...listed }: EndpointDetail): void {
  patchListed(listed.uid, listed);
}

/** True for a 4xx response, which a retry would not change. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500;
}

export const settingsQuery = queryOptions({
  queryKey: queryKeys.settings,
  queryFn: async ({ signal }) => {
    const settings = await client.call('getSettings', {}, signal);
    userSettingsPreference.set(settings);
    return settings;
  },
});

/** The logged-in user. For screens that require a login; their routes have loaded the user. */
export function useUser(): User | null {
  return useSuspenseQuery(userQuery).data;
}

/** Follows changes of the user by other browsers and the payment gateway while the component is mounted. */
export function useFollowedUser(): void {
  useQuery({ ...userQuery, ...FOLLOWED, enabled: !useSignedOut() });
}

/** True if nobody is logged in, or the session has ended: nothing can be saved or sent. */
export function useIsAnonymous(): boolean {
  const isSignedOut = useSignedOut();
  return useUser() === null || isSignedOut;
}

export const useServiceInfo = () => useQuery(serviceInfoQuery);
