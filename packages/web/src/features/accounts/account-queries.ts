import type { OperationInput } from '@creel/contract';
import { queryOptions, useMutation } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { FOLLOWED, putUser } from '../../api/queries.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { handleLogout } from './login-mutations.ts';

export const sessionsQuery = queryOptions({
  queryKey: queryKeys.sessions,
  queryFn: ({ signal }) => client.call('listSessions', {}, signal),
  staleTime: 0,
  ...FOLLOWED,
});

export const useChangeUsername = () =>
  useMutation({
    mutationFn: (username: string) => client.call('changeUsername', { body: { username } }),
    onSuccess: putUser,
  });

export const useChangePassword = () =>
  useMutation({
    mutationFn: (body: OperationInput<'changePassword'>['body']) => client.call('changePassword', { body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKeys.sessions }),
  });

export const useEndOtherSessions = () =>
  useMutation({
    mutationFn: () => client.call('endOtherSessions', {}),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKeys.sessions }),
  });

export const useDeleteAccount = () =>
  useMutation({
    mutationFn: (password: string) => client.call('deleteAccount', { body: { password } }),
    onSuccess: handleLogout,
  });

export const useRequestPasswordReset = () =>
  useMutation({ mutationFn: (email: string) => client.call('requestPasswordReset', { body: { email } }) });

export const useResetPassword = () =>
  useMutation({
    mutationFn: (body: OperationInput<'resetPassword'>['body']) => client.call('resetPassword', { body }),
  });

export const useRequestEmailVerification = () =>
  useMutation({ mutationFn: () => client.call('requestEmailVerification', {}) });

export const useVerifyEmail = () =>
  useMutation({
    mutationFn: (token: string) => client.call('verifyEmail', { body: { token } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKeys.user }),
  });
