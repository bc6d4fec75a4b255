import { ApiError, DEFAULT_USER_SETTINGS, EMAIL_SENTENCE, PLANS, userSettingsInputSchema } from '@creel/contract';
import type { User, UserSettings } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { client, toastFailure } from '../../api/client.ts';
import { userSettingsPreference } from '../../api/queries.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { Button } from '../../ui/button.tsx';
import { SwitchRow } from '../../ui/switch.tsx';
import { fieldErrors, serverFieldErrors, useFormErrors } from '../../ui/form.tsx';
import { SectionCard } from '../../ui/page.tsx';
import { toast } from '../../ui/toast-store.ts';
import { NotificationFields } from './notification-fields.tsx';

interface SettingsFormProps {
  /** `null` if the session has ended. Then the settings are only saved in this browser. */
  readonly user: User | null;
  readonly settings: UserSettings;
}

const UNSAVED = 'Your changes to the settings are not saved. Leave without saving them?';

function isSame(draft: UserSettings, stored: UserSettings): boolean {
  const { autoSaveNewEndpoints, emailNotifyExpiry, emailNotifySubscription, email } = stored;
  return (
    draft.autoSaveNewEndpoints === autoSaveNewEndpoints &&
    draft.emailNotifyExpiry === emailNotifyExpiry &&
    draft.emailNotifySubscription === emailNotifySubscription &&
    draft.email.trim() === email.trim()
  );
}

/** General and notification settings. Warns before the user leaves with unsaved changes. */
export function SettingsForm({ user, settings }: SettingsFormProps) {
  const [draft, setDraft] = useState({ ...DEFAULT_USER_SETTINGS, ...settings });
  const save = useSaveSettings();
  const isDirty = user !== null && !isSame(draft, settings);
  useBlocker({ shouldBlockFn: () => isDirty && !confirm(UNSAVED), enableBeforeUnload: () => isDirty });
  const { ref, errors, refuse, clear } = useFormErrors(['email']);
  const change = (part: Partial<UserSettings>): void => {
    setDraft((before) => ({ ...before, ...part }));
    if ('email' in part) clear('email');
  };
  const refuseEmail = (sentence: string): void => {
    refuse({ email: sentence });
    // The field shows the sentence.
    toast({ title: 'Invalid Email', variant: 'destructive' });
  };
  const onSubmit = (): void => {
    if (user === null) return saveLocally(draft);
    const error = fieldErrors(userSettingsInputSchema, draft)['email'];
    if (error !== undefined) return refuseEmail(error);
    save.mutate(draft, {
      onError: (failure) => {
        const { email } = serverFieldErrors(failure, ['email']);
        if (email !== undefined) refuseEmail(email);
      },
    });
  };
  return (
    <form
      ref={ref}
      noValidate
      onSubmit={(submit) => {
        submit.preventDefault();
        onSubmit();
      }}
      className="flex flex-col gap-4"
    >
      <SectionCard title="General">
        <SwitchRow
          label="Autosave new endpoints"
          description="Endpoints that you create start with Autosave on."
          checked={draft.autoSaveNewEndpoints}
          onCheckedChange={(autoSaveNewEndpoints) => change({ autoSaveNewEndpoints })}
        />
      </SectionCard>
      <SectionCard title="Notifications" description="Email about your endpoints and your plan.">
        <NotificationFields
          draft={draft}
          user={user}
          allowed={user !== null && PLANS[user.subscriptionTier].emailNotifications}
          emailError={errors['email']}
          onChange={change}
          onInvalidEmail={() => refuseEmail(EMAIL_SENTENCE)}
        />
      </SectionCard>
      <Button type="submit" variant="primary" busy={save.isPending} className="self-end">
        {save.isPending ? 'Saving...' : 'Save Settings'}
      </Button>
    </form>
  );
}

function saveLocally({ autoSaveNewEndpoints }: UserSettings): void {
  userSettingsPreference.set({ ...userSettingsPreference.read(), autoSaveNewEndpoints });
  toast({ title: 'Settings Saved', description: 'Your preferences have been saved locally.' });
}

const useSaveSettings = () =>
  useMutation({
    mutationFn: (body: UserSettings) => client.call('saveSettings', { body }),
    onSuccess: (settings) => {
      queryClient.setQueryData(queryKeys.settings, settings);
      userSettingsPreference.set(settings);
      toast({ title: 'Settings Saved', description: 'Your preferences have been updated successfully.' });
    },
    onError: (error) => {
      if (error instanceof ApiError && error.fields['email'] !== undefined) return;
      const isRefusal = error instanceof ApiError && error.status === 403;
      const description = isRefusal ? error.sentence : 'Failed to save settings. Please try again.';
      toastFailure(error, description);
    },
  });
