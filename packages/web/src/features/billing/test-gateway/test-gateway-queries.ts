import type { TestCheckoutAction, TestPortalAction } from '@creel/contract';
import { queryOptions, useMutation } from '@tanstack/react-query';
import { client } from '../../../api/client.ts';
import { queryClient, queryKeys } from '../../../api/query-client.ts';

/** Read on every visit: another tab may have paid or canceled. */
export const testCheckoutQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.testCheckout(id),
    queryFn: ({ signal }) => client.call('getTestCheckout', { params: { id } }, signal),
    staleTime: 0,
  });

export const testSubscriptionQuery = queryOptions({
  queryKey: queryKeys.testSubscription,
  queryFn: ({ signal }) => client.call('getTestSubscription', {}, signal),
  staleTime: 0,
});

/** Pays, declines or expires a checkout. A paid or expired one leads back to Creel with a new page, as the real gateway does. */
export const useDecideCheckout = (id: string) =>
  useMutation({
    mutationFn: (action: TestCheckoutAction) => client.call('decideTestCheckout', { params: { id }, body: { action } }),
    onSuccess: ({ returnUrl }) => location.assign(returnUrl),
    onError: () => queryClient.invalidateQueries({ queryKey: queryKeys.testCheckout(id) }),
  });

/** Changes the subscription at the gateway, which reports it to Creel as an event. */
export const useActOnSubscription = () =>
  useMutation({
    mutationFn: (action: TestPortalAction) => client.call('actOnTestSubscription', { body: { action } }),
    onSuccess: (subscription) => queryClient.setQueryData(queryKeys.testSubscription, subscription),
    onError: () => queryClient.invalidateQueries({ queryKey: queryKeys.testSubscription }),
  });
