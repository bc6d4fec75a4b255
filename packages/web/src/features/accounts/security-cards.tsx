import { passwordChangeSchema } from '@creel/contract';
import type { Session } from '@creel/contract';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { MonitorSmartphone } from 'lucide-react';
import { client, errorMessage, failureOf, toastFailure } from '../../api/client.ts';
import { FOLLOWED } from '../../api/queries.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { Badge } from '../../ui/badges.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Notice, Skeleton } from '../../ui/feedback.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, SubmitButton, useForm } from '../../ui/form.tsx';
import { formatMoment, timeAgo } from '../../ui/format.ts';
import { SectionCard } from '../../ui/page.tsx';
import { useNow } from '../../ui/state.ts';
import { toast } from '../../ui/toast-store.ts';
import { describeUserAgent, passwordFailure } from './profile-labels.ts';

const sessionsQuery = queryOptions({
  queryKey: queryKeys.sessions,
  queryFn: ({ signal }) => client.call('listSessions', {}, signal),
  staleTime: 0,
  ...FOLLOWED,
});

const readSessionsAgain = () => queryClient.invalidateQueries({ queryKey: queryKeys.sessions });

const EMPTY = { currentPassword: '', newPassword: '', confirmPassword: '' };
const FIELDS = [
  { name: 'currentPassword', label: 'Current password', autoComplete: 'current-password' },
  { name: 'newPassword', label: 'New password', autoComplete: 'new-password' },
  { name: 'confirmPassword', label: 'Confirm new password', autoComplete: 'new-password' },
] as const;

/** The form to change the password. It ends all other sessions. */
export function PasswordCard() {
  const change = useMutation({
    mutationFn: (body: typeof EMPTY) => client.call('changePassword', { body }),
    onSuccess: readSessionsAgain,
  });
  const form = useForm({
    initial: EMPTY,
    schema: passwordChangeSchema,
    onValid: (values) =>
      change.mutate(values, {
        onSuccess: ({ message }) => {
          form.reset();
          toast({ title: message });
        },
        onError: (error) => form.fail(error, passwordFailure(error)),
      }),
  });
  return (
    <Form {...form.props}>
      <SectionCard
        title="Change password"
        description="Every other session is logged out."
        footer={<SubmitButton isPending={change.isPending} label="Change Password" pendingLabel="Changing…" />}
      >
        <div className="flex max-w-sm flex-col gap-4">
          {form.failure === undefined ? null : <Notice tone="bad">{form.failure}</Notice>}
          {FIELDS.map(({ name, label, autoComplete }) => (
            <TextField key={name} label={label} {...form.bind(name)} type="password" autoComplete={autoComplete} />
          ))}
        </div>
      </SectionCard>
    </Form>
  );
}

/** The user's sessions, and how to end them. */
export function SessionsCard() {
  const sessions = useQuery(sessionsQuery);
  const others = sessions.data?.filter((session) => !session.current) ?? [];
  return (
    <SectionCard
      title="Sessions"
      description="Browsers and programs that are logged in to your account."
      footer={others.length === 0 ? undefined : <EndOthersButton count={others.length} />}
    >
      {sessions.isPending ? <Skeleton className="h-12" /> : null}
      {sessions.isError ? <Notice tone="bad" {...failureOf(sessions, 'The sessions could not be loaded.')} /> : null}
      <ul className="divide-y divide-line">
        {sessions.data?.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
    </SectionCard>
  );
}

function SessionRow({ session }: { readonly session: Session }) {
  const now = useNow(10_000);
  return (
    <li className="flex items-center gap-3 py-2.5 first:pt-0 last:pb-0">
      <MonitorSmartphone aria-hidden className="size-4 shrink-0 text-ink-2" />
      <div className="min-w-0 grow">
        <p className="truncate font-medium" title={session.userAgent}>
          {describeUserAgent(session.userAgent)}
        </p>
        <p className="text-sm text-ink-2">
          <span className="font-mono">{session.ip}</span> ·{' '}
          <span title={formatMoment(session.createdAt)}>logged in {timeAgo(session.createdAt, now)}</span> · last seen{' '}
          {timeAgo(session.lastSeenAt, now)}
        </p>
      </div>
      {session.current ? <Badge tone="accent">This browser</Badge> : null}
    </li>
  );
}

function EndOthersButton({ count }: { readonly count: number }) {
  const end = useMutation({ mutationFn: () => client.call('endOtherSessions', {}), onSuccess: readSessionsAgain });
  const onConfirm = (): void =>
    end.mutate(undefined, {
      onSuccess: () => toast({ title: 'Logged out everywhere else' }),
      onError: (error) =>
        toastFailure(error, errorMessage(error, 'The other sessions could not be ended. Please try again.')),
    });
  return (
    <ConfirmButton
      busy={end.isPending}
      confirm={{
        title: 'Log out everywhere else',
        description: `This ends ${count === 1 ? 'one other session' : `${count} other sessions`}. This browser stays logged in.`,
        confirmLabel: 'Log out',
        onConfirm,
      }}
    >
      Log out everywhere else
    </ConfirmButton>
  );
}
