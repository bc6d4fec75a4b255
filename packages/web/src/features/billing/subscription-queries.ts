import { ApiError } from '@creel/contract';
import type { BillingInterval, Tier, User } from '@creel/contract';
import { queryOptions, useMutation } from '@tanstack/react-query';
import { client, errorMessage, toastFailure } from '../../api/client.ts';
import { putUser } from '../../api/queries.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { currentTime } from '../../ui/state.ts';
import { toast, toastError } from '../../ui/toast-store.ts';
import type { ErrorToastOptions } from '../../ui/toast-store.ts';
import { changedToast } from './subscription-labels.ts';
import type { PlanAction, PlanChoice } from './subscription-state.ts';

/** Milliseconds for which a portal error stays on screen. */
const PORTAL_TOAST_MS = 10_000;

/** Milliseconds for which the browser may take to leave the page. It may also stay, if the user stops it. */
const MAX_LEAVING_MS = 10_000;

/** Leaves the page. Until then, or until the browser shows it again from its cache, the call stays pending. */
const leaveFor = (url: string): Promise<void> =>
  new Promise((resolve) => {
    addEventListener('pageshow', () => resolve(), { once: true });
    setTimeout(resolve, MAX_LEAVING_MS);
    location.assign(url);
  });

/** Where checkout and portal lead back to. With the origin of this page, because at another one the user is not logged in. */
const returnUrl = (): string => new URL('/subscription', location.origin).href;

/** What a change would delete and charge. Never cached: it depends on endpoints and on the day of the period. */
export const planChangeQuery = (tier: Tier, interval: BillingInterval) =>
  queryOptions({
    queryKey: queryKeys.planChange(tier, interval),
    queryFn: ({ signal }) => client.call('previewPlanChange', { query: { tier, interval } }, signal),
    staleTime: 0,
    gcTime: 0,
  });

/** Stores the user after their plan has changed, and reads the endpoints again. */
export function storeChangedUser(user: User): void {
  putUser(user);
  void queryClient.invalidateQueries({ queryKey: queryKeys.endpoints });
}

interface PlanChange extends PlanChoice {
  readonly action: PlanAction;
}

/** Changes, cancels or renews a subscription. */
export const useChangePlan = () =>
  useMutation({
    mutationFn: ({ tier, interval }: PlanChange) => client.call('changeSubscription', { body: { tier, interval } }),
    onSuccess: (user, { action }) => {
      storeChangedUser(user);
      toast(changedToast(action, user, currentTime()));
    },
    onError: failWith('Failed to change subscription tier', 'Failed to process subscription'),
  });

/** Starts a checkout and leaves the page for it. */
export const useCheckout = () =>
  useMutation({
    mutationFn: ({ tier, interval }: PlanChoice) =>
      client.call('createCheckout', { body: { tier, interval, returnUrl: returnUrl() } }),
    onSuccess: ({ url }) => leaveFor(url),
    onError: failWith('Failed to create checkout session', 'Failed to process subscription'),
  });

/** Leaves the page for the billing portal. */
export const usePortal = () =>
  useMutation({
    mutationFn: () => client.call('createPortal', { body: { returnUrl: returnUrl() } }),
    onSuccess: ({ url, fallback = false, message }) => {
      if (!fallback) return leaveFor(url);
      return portalAccessError(message, { label: 'Open', run: () => location.assign(url) });
    },
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'PORTAL_NOT_CONFIGURED') portalAccessError(error.sentence);
      else failWith('Failed to create portal session', 'Failed to open subscription portal')(error);
    },
  });

function portalAccessError(description?: string, action?: ErrorToastOptions['action']): void {
  toastError(description, { title: 'Portal Access Error', duration: PORTAL_TOAST_MS, action });
}

/** Shows why a call failed: the server's sentence, else `answered` after an answer and `unexpected` without one. */
const failWith =
  (answered: string, unexpected: string) =>
  (error: unknown): void => {
    toastFailure(error, error instanceof ApiError ? errorMessage(error, answered) : unexpected);
  };
