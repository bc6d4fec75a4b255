import { ApiError } from '@creel/contract';
import type { Endpoint, EndpointDetail, User } from '@creel/contract';
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { userSettingsPreference } from './user-settings.ts';
import { client } from './client.ts';
import { queryClient } from './query-client.ts';
import { queryKeys } from './query-keys.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** The signed-in user; a 401 means `null`, nobody (spec 6). */
export const userQuery = queryOptions({
  queryKey: queryKeys.user,
  queryFn: async ({ signal }): Promise<User | null> => {
    try {
      const user = await client.call('getUser', {}, signal);
      userSettingsPreference.write(user.settings);
      return user;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
});

export const serviceInfoQuery = queryOptions({
  queryKey: queryKeys.serviceInfo,
  queryFn: ({ signal }) => client.call('getServiceInfo', {}, signal),
});

/** Stale after 30 s, kept 5 minutes (spec 9); asked for again as often while somebody looks, since endpoints fill and expire. */
export const endpointsQuery = queryOptions({
  queryKey: queryKeys.endpoints,
  queryFn: ({ signal }) => client.call('listEndpoints', {}, signal),
  staleTime: 30 * SECOND_MS,
  gcTime: 5 * MINUTE_MS,
  refetchInterval: 30 * SECOND_MS,
  refetchOnWindowFocus: true,
});

/** Never cached, retried 3 times, 1 s apart (spec 9); an answer that says no is an answer and is not asked for again. */
export const endpointQuery = (uid: string) =>
  queryOptions({
    queryKey: queryKeys.endpoint(uid),
    queryFn: ({ signal }) => client.call('getEndpoint', { params: { uid } }, signal),
    staleTime: 0,
    gcTime: 0,
    retry: (failures, error) => failures < 3 && !isRefusal(error),
    retryDelay: SECOND_MS,
  });

/** Changes an endpoint wherever it is cached: its own page and the list. */
export function patchEndpoint(uid: string, change: Partial<Endpoint>): void {
  queryClient.setQueryData<EndpointDetail>(
    queryKeys.endpoint(uid),
    (endpoint) => endpoint && { ...endpoint, ...change },
  );
  queryClient.setQueryData<Endpoint[]>(queryKeys.endpoints, (list) =>
    list?.map((endpoint) => (endpoint.uid === uid ? { ...endpoint, ...change } : endpoint)),
  );
}

/** True for an answer of the 4xx kind: asking again would not change it. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500;
}

export const settingsQuery = queryOptions({
  queryKey: queryKeys.settings,
  queryFn: async ({ signal }) => {
    const settings = await client.call('getSettings', {}, signal);
    userSettingsPreference.write(settings);
    return settings;
  },
});

/** The signed-in user, for screens behind the sign-in: their routes have loaded it. */
export function useUser(): User | null {
  return useSuspenseQuery(userQuery).data;
}

export const useServiceInfo = () => useQuery(serviceInfoQuery);
