import { DEFAULT_USER_SETTINGS, ApiError, EMAIL_SENTENCE, userSettingsInputSchema } from '@creel/contract';
import type { User, UserSettings } from '@creel/contract';
import { useQuery, useMutation } from '@tanstack/react-query';
import { Link, useBlocker } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { useState } from 'react';
import { failureOf, client, toastFailure } from '../../api/client.ts';
import { FOLLOWED, settingsQuery, useIsAnonymous, useUser, userSettingsPreference } from '../../api/queries.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { Button } from '../../ui/button.tsx';
import { Loading, Notice } from '../../ui/feedback.tsx';
import { fieldErrors, Form, serverFieldErrors, SubmitButton, useFormErrors } from '../../ui/form.tsx';
import { Page, SectionCard } from '../../ui/page.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { useSignal } from '../../ui/state.ts';
import { SwitchRow } from '../../ui/switch.tsx';
import { toast } from '../../ui/toast-store.ts';
import { NotificationFields } from './notification-fields.tsx';
import { THEMES, themePreference } from './theme.tsx';

/** General and notification settings, with a link back to the dashboard. */
export function SettingsPage() {
  return (
    <Page
      title="Settings"
      narrow
      before={
        <Button asChild variant="ghost" size="sm" className="mb-2 -ml-2.5">
          <Link to="/">
            <ArrowLeft /> Back to Dashboard
          </Link>
        </Button>
      }
    >
      <Settings />
    </Page>
  );
}

/** The settings of the account and the theme. The theme waits for the settings, because they would move it. */
function Settings() {
  const user = useUser();
  const isAnonymous = useIsAnonymous();
  const settings = useQuery({ ...settingsQuery, ...FOLLOWED, refetchOnMount: 'always', enabled: !isAnonymous });
  const stored = (user === null ? undefined : settings.data) ?? {
    ...DEFAULT_USER_SETTINGS,
    ...userSettingsPreference.read(),
  };
  if (!isAnonymous && settings.isPending)
    return <Loading label="Loading settings" bars={['h-28', 'h-80', 'h-32']} className="gap-5" />;
  return (
    <>
      {!isAnonymous && settings.data === undefined ? (
        <Notice tone="bad" {...failureOf(settings, 'The settings could not be loaded.')} />
      ) : (
        <SettingsForm user={isAnonymous ? null : user} settings={stored} />
      )}
      <ThemeCard />
    </>
  );
}

/** Light, dark or system theme; stored in this browser. */
function ThemeCard() {
  const theme = useSignal(themePreference);
  return (
    <SectionCard title="Appearance" description="Stored in this browser.">
      <RadioGroup
        label="Theme"
        value={theme}
        options={THEMES}
        onChange={themePreference.set}
        className="grid max-w-md grid-cols-[repeat(3,minmax(max-content,1fr))] gap-2"
        optionClassName="h-9 justify-center gap-2 rounded-md border px-1.5 border-line-strong not-has-checked:hover:bg-sunk has-checked:border-accent [&_svg]:size-4"
      />
    </SectionCard>
  );
}

interface SettingsFormProps {
  /** `null` if the session has ended. Then the settings are only saved in this browser. */
  readonly user: User | null;
  readonly settings: UserSettings;
}

const UNSAVED = 'Your changes to the settings are not saved. Leave without saving them?';

function isSame(draft: UserSettings, stored: UserSettings): boolean {
  const text = (settings: UserSettings): string => JSON.stringify({ ...settings, email: settings.email.trim() });
  return text(draft) === text(stored);
}

/**
 * General and notification settings. Warns before the user leaves with unsaved changes. What the user has not edited
 * follows the stored settings.
 */
function SettingsForm({ user, settings }: SettingsFormProps) {
  const [edits, setEdits] = useState<Partial<UserSettings>>({});
  const draft = { ...settings, ...edits };
  const save = useSaveSettings();
  const isDirty = user !== null && !isSame(draft, settings);
  useBlocker({ shouldBlockFn: () => isDirty && !confirm(UNSAVED), enableBeforeUnload: () => isDirty });
  const { ref, errors, refuse } = useFormErrors({ email: draft.email });
  const change = (part: Partial<UserSettings>): void => setEdits((before) => ({ ...before, ...part }));
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
      onSuccess: () => setEdits((now) => (now === edits ? {} : now)),
      onError: (failure) => {
        const { email } = serverFieldErrors(failure, ['email']);
        if (email !== undefined) refuseEmail(email);
      },
    });
  };
  return (
    <Form ref={ref} onSubmit={onSubmit}>
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
          emailError={errors['email']}
          onChange={change}
          onInvalidEmail={() => refuseEmail(EMAIL_SENTENCE)}
        />
      </SectionCard>
      <SubmitButton isPending={save.isPending} label="Save Settings" pendingLabel="Saving..." className="self-end" />
    </Form>
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
