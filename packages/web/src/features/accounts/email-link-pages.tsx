import { useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { client, errorMessage } from '../../api/client.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/feedback.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, SubmitButton, useForm } from '../../ui/form.tsx';
import { PublicLayout } from '../../ui/page.tsx';
import { newPasswordFormSchema } from './account-forms.ts';

const BROKEN = 'This link is not complete. Open it again from the email, or request a new one.';

/** The page that the link in a password reset email opens. */
export function ResetPage() {
  const { token = '' } = useSearch({ from: '/auth/reset' });
  return (
    <PublicLayout
      title="Set a new password"
      heading="Set a new password"
      description="The link works once, for 30 minutes. Every other session is logged out."
    >
      {token === '' ? <Notice tone="bad">{BROKEN}</Notice> : <ResetForm token={token} />}
      <Button asChild variant="ghost">
        <Link to="/auth">Back to login</Link>
      </Button>
    </PublicLayout>
  );
}

/** The form for a new password, with the token of an emailed link. */
function ResetForm({ token }: { readonly token: string }) {
  const reset = useMutation({
    mutationFn: (password: string) => client.call('resetPassword', { body: { token, password } }),
  });
  const form = useForm({
    initial: { password: '', confirmPassword: '' },
    schema: newPasswordFormSchema,
    onValid: ({ password }) =>
      reset.mutate(password, {
        onError: (error) => form.fail(error, errorMessage(error, 'The password could not be set. Please try again.')),
      }),
  });
  if (reset.isSuccess) return <Notice tone="good">{reset.data.message}</Notice>;
  return (
    <Form {...form.props} failure={form.failure}>
      <TextField
        label="New password"
        hint={form.errors['password'] === undefined ? 'At least 6 characters.' : undefined}
        {...form.bind('password')}
        type="password"
        autoComplete="new-password"
      />
      <TextField
        label="Confirm new password"
        {...form.bind('confirmPassword')}
        type="password"
        autoComplete="new-password"
      />
      <SubmitButton isPending={reset.isPending} label="Set new password" pendingLabel="Setting…" />
    </Form>
  );
}

const FAILED = 'The email could not be confirmed. Request a new link on your profile page.';

/** The page that the link in a verification email opens. The user has to click, because mail scanners follow links. */
export function VerifyPage() {
  const { token = '' } = useSearch({ from: '/auth/verify' });
  const verify = useMutation({
    mutationFn: () => client.call('verifyEmail', { body: { token } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKeys.user }),
  });
  return (
    <PublicLayout
      title="Confirm your email"
      heading="Confirm your email"
      description="One click proves that this address is yours."
    >
      {token === '' ? <Notice tone="bad">{BROKEN}</Notice> : null}
      {verify.isError ? <Notice tone="bad">{errorMessage(verify.error, FAILED)}</Notice> : null}
      {verify.isSuccess ? <Notice tone="good">{verify.data.message}</Notice> : null}
      {token === '' || verify.isSuccess ? null : (
        <Button variant="primary" busy={verify.isPending} onClick={() => verify.mutate()}>
          {verify.isPending ? 'Confirming…' : 'Confirm email'}
        </Button>
      )}
      <Button asChild variant="ghost">
        <Link to="/">Go to Creel</Link>
      </Button>
    </PublicLayout>
  );
}
