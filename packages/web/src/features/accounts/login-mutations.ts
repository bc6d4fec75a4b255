import type { Credentials, OperationInput, Registration, User } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client, namedError } from '../../api/client.ts';
import { putUser, userSettingsPreference } from '../../api/queries.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { finishWork, markSessionActive, notifyOtherTabs } from '../../api/session.ts';
import { toastError } from '../../ui/toast-store.ts';

/**
 * Handles a login. If it is another user, the page reloads, because its screens and cache belong to the previous user.
 */
function handleLogin(user: User): void {
  const before = queryClient.getQueryData<User | null>(queryKeys.user);
  notifyOtherTabs({ type: 'signed-in', userId: user.id });
  if (before && before.id !== user.id) return location.assign('/');
  if (!before) clearUserCache();
  putUser(user);
  userSettingsPreference.set(user.settings);
  markSessionActive();
}

/** Clears the cache of the user who has logged out. */
function clearUserCache(): void {
  queryClient.removeQueries({ predicate: (query) => query.queryKey[0] !== queryKeys.serviceInfo[0] });
}

/** After a logout, or after the account was deleted. */
export function handleLogout(): void {
  putUser(null);
  notifyOtherTabs({ type: 'signed-out' });
}

export const useLogin = () =>
  useMutation({ mutationFn: (body: Credentials) => client.call('login', { body }), onSuccess: handleLogin });

export const useRegister = () =>
  useMutation({ mutationFn: (body: Registration) => client.call('register', { body }), onSuccess: handleLogin });

/** With the identity that the provider's callback page reports. The server trusts only what it has verified itself. */
export const useProviderLogin = () =>
  useMutation({
    mutationFn: (body: OperationInput<'googleLogin'>['body']) => client.call('googleLogin', { body }),
    onSuccess: handleLogin,
  });

/** Opens the login page after a logout. The cache is cleared when the screens that show it are unmounted. */
export function useLeave(): () => Promise<void> {
  const navigate = useNavigate();
  return async () => {
    await navigate({ to: '/auth' });
    clearUserCache();
  };
}

/** Logs out and opens the login page. */
export function useLogout() {
  const leave = useLeave();
  return useMutation({
    mutationFn: async () => {
      await finishWork();
      await client.call('logout', {});
    },
    onSuccess: async () => {
      handleLogout();
      await leave();
    },
    onError: (error) => toastError(namedError(error, 'Logout failed')),
  });
}
