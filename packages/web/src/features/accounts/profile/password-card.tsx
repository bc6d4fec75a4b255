import { ApiError, passwordChangeSchema } from '@creel/contract';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { fieldErrors, serverFieldErrors, useForm } from '../../../ui/form.ts';
import { SectionCard } from '../../../ui/page.tsx';
import { toast } from '../../../ui/toast-store.ts';
import { useChangePassword } from '../account-queries.ts';
import { passwordFailure } from './profile-failures.ts';

const EMPTY = { currentPassword: '', newPassword: '', confirmPassword: '' };
const FIELDS = [
  { name: 'currentPassword', label: 'Current password', autoComplete: 'current-password' },
  { name: 'newPassword', label: 'New password', autoComplete: 'new-password' },
  { name: 'confirmPassword', label: 'Confirm new password', autoComplete: 'new-password' },
] as const;

/** The form to change the password. It ends all other sessions. */
export function PasswordCard() {
  const change = useChangePassword();
  const form = useForm({
    initial: EMPTY,
    validate: (values) => fieldErrors(passwordChangeSchema, values),
    onValid: (values) =>
      change.mutate(values, {
        onSuccess: ({ message }) => {
          form.reset();
          toast({ title: message });
        },
        onError: (error) => form.setErrors(serverFieldErrors(error, Object.keys(EMPTY))),
      }),
  });
  const isAtAField = Object.keys(form.errors).length > 0;
  return (
    <form {...form.props}>
      <SectionCard
        title="Change password"
        description="Every other session is logged out."
        footer={
          <Button type="submit" variant="primary" busy={change.isPending}>
            {change.isPending ? 'Changing…' : 'Change Password'}
          </Button>
        }
      >
        <div className="flex max-w-sm flex-col gap-4">
          {change.error === null || isAtAField ? null : (
            <Notice tone="bad">
              {change.error instanceof ApiError ? passwordFailure(change.error) : 'Failed to update password'}
            </Notice>
          )}
          {FIELDS.map(({ name, label, autoComplete }) => (
            <Field key={name} label={label} error={form.errors[name]}>
              {(control) => <Input {...control} {...form.bind(name)} type="password" autoComplete={autoComplete} />}
            </Field>
          ))}
        </div>
      </SectionCard>
    </form>
  );
}
