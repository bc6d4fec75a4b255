import { ApiError } from '@creel/contract';
import type { UserSettings } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { client, isEndOfSession, errorMessage } from '../../api/client.ts';
import { userSettingsPreference } from '../../api/queries.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { toast, toastError } from '../../ui/toast-store.ts';

export const useSaveSettings = () =>
  useMutation({
    mutationFn: (body: UserSettings) => client.call('saveSettings', { body }),
    onSuccess: (settings) => {
      queryClient.setQueryData(queryKeys.settings, settings);
      userSettingsPreference.set(settings);
      toast({ title: 'Settings Saved', description: 'Your preferences have been updated successfully.' });
    },
    onError: (error) => {
      if (isEndOfSession(error) || (error instanceof ApiError && error.fields['email'] !== undefined)) return;
      const isRefusal = error instanceof ApiError && error.status === 403;
      const description = isRefusal ? error.sentence : 'Failed to save settings. Please try again.';
      toastError(description);
    },
  });

export const useTestEmail = () =>
  useMutation({
    mutationFn: (email: string) => client.call('testEmail', { body: { email } }),
    onSuccess: ({ message }) => toast({ title: 'Test Email Sent', description: message }),
    onError: (error) => {
      if (isEndOfSession(error)) return;
      toastError(
        errorMessage(error, 'Failed to send test email. Please check SMTP server settings.'),
        'Email Configuration Error',
      );
    },
  });
