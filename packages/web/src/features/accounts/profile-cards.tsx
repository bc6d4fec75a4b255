import { usernameSchema } from '@creel/contract';
import type { User } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import { client, errorMessage } from '../../api/client.ts';
import { putUser, useServiceInfo } from '../../api/queries.ts';
import { Badge } from '../../ui/badges.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/feedback.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, FormButtons, SubmitButton, useForm } from '../../ui/form.tsx';
import { SectionCard } from '../../ui/page.tsx';
import { toast } from '../../ui/toast-store.ts';
import { handleLogout, useLeave } from './login-mutations.ts';
import { usernameFailure } from './profile-labels.ts';

const FORM = z.object({ username: usernameSchema });
const DELETION = z.object({ password: z.string().min(1, 'Please enter your password') });
/** The page reloads after a change of the username, so that every screen shows it. */
const RELOAD_AFTER_MS = 1000;

/** Changes the username, and reloads the page, which shows it in many places. */
export function UsernameCard({ user }: { readonly user: User }) {
  const change = useMutation({
    mutationFn: (username: string) => client.call('changeUsername', { body: { username } }),
    onSuccess: putUser,
  });
  const form = useForm({
    initial: { username: user.username },
    schema: FORM,
    onValid: ({ username }) =>
      change.mutate(username.trim(), {
        onSuccess: () => {
          toast({ title: 'Username updated successfully' });
          setTimeout(() => location.reload(), RELOAD_AFTER_MS);
        },
        onError: (error) => form.refuse({ username: usernameFailure(error) }, error),
      }),
  });
  const isChanged = form.values.username.trim() !== user.username;
  return (
    <Form {...form.props}>
      <SectionCard
        title="Username"
        description="The name that you log in with."
        footer={
          <SubmitButton
            isPending={change.isPending}
            label="Update Username"
            pendingLabel="Updating…"
            busy={!isChanged}
          />
        }
      >
        <TextField
          label="Username"
          className="max-w-sm"
          {...form.bind('username')}
          dir="auto"
          autoComplete="username"
        />
      </SectionCard>
    </Form>
  );
}

/** The email of the account, and whether it is verified. */
export function EmailCard({ user }: { readonly user: User }) {
  const info = useServiceInfo();
  const verify = useMutation({ mutationFn: () => client.call('requestEmailVerification', {}) });
  const canAsk = !user.emailVerified && info.data?.mail === true;
  return (
    <SectionCard
      title="Email"
      description="Needed to reset your password and to log in through a third party."
      footer={
        canAsk ? (
          <Button busy={verify.isPending || verify.isSuccess} onClick={() => verify.mutate()}>
            {verify.isPending ? 'Sending…' : 'Send confirmation link'}
          </Button>
        ) : undefined
      }
    >
      <div className="flex flex-col gap-3">
        <p className="flex min-w-0 items-center gap-2">
          <span className="min-w-0 wrap-anywhere">{user.email}</span>
          <Badge tone={user.emailVerified ? 'success' : 'warning'}>
            {user.emailVerified ? 'Confirmed' : 'Not confirmed'}
          </Badge>
        </p>
        {!user.emailVerified && info.data?.mail === false ? (
          <Notice>Email is off on this server, so the address can't be confirmed.</Notice>
        ) : null}
        {verify.isSuccess ? <Notice tone="good">{verify.data.message}</Notice> : null}
        {verify.isError ? (
          <Notice tone="bad">{errorMessage(verify.error, 'The link could not be sent. Please try again.')}</Notice>
        ) : null}
      </div>
    </SectionCard>
  );
}

/** Deletes the account. Asks for the password first. */
export function DeleteAccountCard({ user }: { readonly user: User }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <SectionCard
        destructive
        title="Delete account"
        description="Deletes your account with all endpoints and captured requests. This action cannot be undone."
        footer={
          <Button variant="danger-ghost" onClick={() => setAsking(true)}>
            Delete account
          </Button>
        }
      />
      {isAsking ? (
        <Dialog
          onClose={() => setAsking(false)}
          title="Delete account"
          description={`This deletes the account ${user.username} with all its endpoints and requests.${
            user.stripeSubscriptionId === null ? '' : ' Your subscription ends now.'
          } This action cannot be undone.`}
        >
          <DeleteAccountForm hasPassword={!user.thirdPartyOnly} onCancel={() => setAsking(false)} />
        </Dialog>
      ) : null}
    </>
  );
}

interface DeleteAccountFormProps {
  readonly hasPassword: boolean;
  readonly onCancel: () => void;
}

function DeleteAccountForm({ hasPassword, onCancel }: DeleteAccountFormProps) {
  const leave = useLeave();
  const remove = useMutation({
    mutationFn: (password: string) => client.call('deleteAccount', { body: { password } }),
    onSuccess: handleLogout,
  });
  const form = useForm({
    initial: { password: '' },
    schema: hasPassword ? DELETION : undefined,
    onValid: ({ password }) =>
      remove.mutate(password, {
        onSuccess: () => {
          toast({ title: 'Account deleted' });
          void leave();
        },
        onError: (error) =>
          form.fail(error, errorMessage(error, 'The account could not be deleted. Please try again.')),
      }),
  });
  return (
    <Form {...form.props} failure={form.failure}>
      {hasPassword ? (
        <TextField label="Password" {...form.bind('password')} type="password" autoComplete="current-password" />
      ) : null}
      <FormButtons
        variant="danger"
        isPending={remove.isPending}
        label="Delete account"
        pendingLabel="Deleting…"
        onCancel={onCancel}
      />
    </Form>
  );
}
