import { errorMessage } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { fieldErrors, serverFieldErrors, useForm } from '../../../ui/form.ts';
import { useResetPassword } from '../account-queries.ts';
import { newPasswordFormSchema } from './auth-forms.ts';

/** The form for a new password, with the token of an emailed link. */
export function ResetForm({ token }: { readonly token: string }) {
  const reset = useResetPassword();
  const form = useForm({
    initial: { password: '', confirmPassword: '' },
    validate: (values) => fieldErrors(newPasswordFormSchema, values),
    onValid: ({ password }) =>
      reset.mutate({ token, password }, { onError: (error) => form.setErrors(serverFieldErrors(error, ['password'])) }),
  });
  if (reset.isSuccess) return <Notice tone="good">{reset.data.message}</Notice>;
  return (
    <form {...form.props} className="flex flex-col gap-4">
      {reset.error === null || form.errors['password'] !== undefined ? null : (
        <Notice tone="bad">{errorMessage(reset.error, 'The password could not be set. Please try again.')}</Notice>
      )}
      <Field
        label="New password"
        hint={form.errors['password'] === undefined ? 'At least 6 characters.' : undefined}
        error={form.errors['password']}
      >
        {(control) => <Input {...control} {...form.bind('password')} type="password" autoComplete="new-password" />}
      </Field>
      <Field label="Confirm new password" error={form.errors['confirmPassword']}>
        {(control) => (
          <Input {...control} {...form.bind('confirmPassword')} type="password" autoComplete="new-password" />
        )}
      </Field>
      <Button type="submit" variant="primary" busy={reset.isPending}>
        {reset.isPending ? 'Setting…' : 'Set new password'}
      </Button>
    </form>
  );
}
