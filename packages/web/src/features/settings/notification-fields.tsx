import { emailSchema, isProvenAddress, PLANS } from '@creel/contract';
import type { User, UserSettings } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client, errorMessage, toastFailure } from '../../api/client.ts';
import { useServiceInfo } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Notice, UpgradeLink } from '../../ui/feedback.tsx';
import { toast } from '../../ui/toast-store.ts';
import { Field, Input } from '../../ui/field.tsx';
import { SwitchRow } from '../../ui/switch.tsx';

interface NotificationFieldsProps {
  readonly draft: UserSettings;
  /** `null` if the session has ended. */
  readonly user: User | null;
  readonly emailError: string | undefined;
  readonly onChange: (part: Partial<UserSettings>) => void;
  readonly onInvalidEmail: () => void;
}

/** Which notifications to send, and where to. */
export function NotificationFields(props: NotificationFieldsProps) {
  const { draft, user, emailError, onChange, onInvalidEmail } = props;
  const signedIn = user !== null;
  const allowed = signedIn && PLANS[user.subscriptionTier].emailNotifications;
  const info = useServiceInfo();
  const test = useTestEmail();
  /** A notification that the plan no longer includes can still be switched off. */
  const isOutOfReach = (isOn: boolean): boolean => !signedIn || (!allowed && !isOn);
  const sendTest = (): void => {
    const email = emailSchema.safeParse(draft.email);
    if (email.success) test.mutate(email.data);
    else onInvalidEmail();
  };
  return (
    <div className="flex flex-col gap-2">
      <MissingNotice signedIn={signedIn} allowed={allowed} hasMail={info.data?.mail !== false} />
      {allowed && info.data?.mail === true ? <UnverifiedNotice draft={draft} user={user} /> : null}
      <div className="divide-y divide-line">
        <SwitchRow
          label="Endpoint expiry"
          description="Email me before an endpoint expires."
          checked={draft.emailNotifyExpiry}
          disabled={isOutOfReach(draft.emailNotifyExpiry)}
          onCheckedChange={(emailNotifyExpiry) => onChange({ emailNotifyExpiry })}
        />
        <SwitchRow
          label="Subscription changes"
          description="Email me when my plan changes, is canceled or ends, and when a payment fails."
          checked={draft.emailNotifySubscription}
          disabled={isOutOfReach(draft.emailNotifySubscription)}
          onCheckedChange={(emailNotifySubscription) => onChange({ emailNotifySubscription })}
        />
      </div>
      <Field label="Email" error={emailError} hint="Notifications are sent to this address." className="max-w-sm">
        {(control) => (
          <div className="flex flex-wrap gap-2">
            <Input
              {...control}
              className="grow basis-40"
              type="email"
              autoComplete="email"
              value={draft.email}
              disabled={!signedIn}
              onChange={(change) => onChange({ email: change.target.value })}
            />
            <Button disabled={!signedIn} busy={test.isPending} onClick={sendTest}>
              {test.isPending ? 'Sending…' : 'Send Test Email'}
            </Button>
          </div>
        )}
      </Field>
    </div>
  );
}

interface MissingNoticeProps {
  readonly signedIn: boolean;
  /** True if the plan includes email notifications. */
  readonly allowed: boolean;
  readonly hasMail: boolean;
}

/** What notifications need: a login, a plan that includes them, and a server that sends email. */
function MissingNotice({ signedIn, allowed, hasMail }: MissingNoticeProps) {
  if (signedIn && allowed && hasMail) return null;
  return (
    <Notice tone={hasMail ? 'info' : 'warn'}>
      {hasMail ? null : <p>Email is off on this server: nothing is sent until it is set up.</p>}
      {signedIn ? null : <p>Sign in to enable email notifications</p>}
      {signedIn && !allowed ? (
        <p>
          Email notifications come with the Basic and Premium plans. <UpgradeLink />
        </p>
      ) : null}
    </Notice>
  );
}

/** Notifications are only sent to a verified address. */
function UnverifiedNotice({ draft, user }: { readonly draft: UserSettings; readonly user: User }) {
  if (!draft.emailNotifyExpiry && !draft.emailNotifySubscription) return null;
  if (isProvenAddress(user, draft.email)) return null;
  return (
    <Notice tone="warn">
      Notices are sent only to your account&apos;s address, {user.email}, once it is confirmed.{' '}
      {user.emailVerified ? null : (
        <Link to="/profile" className="underline">
          Confirm it in your profile
        </Link>
      )}
    </Notice>
  );
}

const useTestEmail = () =>
  useMutation({
    mutationFn: (email: string) => client.call('testEmail', { body: { email } }),
    onSuccess: ({ message }) => toast({ title: 'Test Email Sent', description: message }),
    onError: (error) =>
      toastFailure(error, errorMessage(error, 'Failed to send test email. Please check SMTP server settings.'), {
        title: 'Email Configuration Error',
      }),
  });
