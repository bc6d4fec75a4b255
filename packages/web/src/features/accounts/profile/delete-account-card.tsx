import type { User } from '@creel/contract';
import { useState } from 'react';
import { errorMessage } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { serverFieldErrors, useForm } from '../../../ui/form.ts';
import { SectionCard } from '../../../ui/page.tsx';
import { useDeleteAccount } from '../account-queries.ts';

interface DeleteAccountCardProps {
  readonly user: User;
  readonly onDeleted: () => void;
}

/** Deletes the account. Asks for the password first. */
export function DeleteAccountCard({ user, onDeleted }: DeleteAccountCardProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <SectionCard
        destructive
        title="Delete account"
        description="Deletes your account with all endpoints and captured requests. This action cannot be undone."
        footer={
          <Button variant="danger-ghost" onClick={() => setOpen(true)}>
            Delete account
          </Button>
        }
      />
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Delete account"
        description={`This deletes the account ${user.username} with all its endpoints and requests. This action cannot be undone.`}
      >
        <DeleteAccountForm hasPassword={user.hasPassword} onDeleted={onDeleted} onCancel={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

interface DeleteAccountFormProps {
  readonly hasPassword: boolean;
  readonly onDeleted: () => void;
  readonly onCancel: () => void;
}

function DeleteAccountForm({ hasPassword, onDeleted, onCancel }: DeleteAccountFormProps) {
  const remove = useDeleteAccount();
  const form = useForm({
    initial: { password: '' },
    validate: ({ password }): Record<string, string> =>
      hasPassword && password === '' ? { password: 'Please enter your password' } : {},
    onValid: ({ password }) =>
      remove.mutate(password, {
        onSuccess: onDeleted,
        onError: (error) => form.setErrors(serverFieldErrors(error, ['password'])),
      }),
  });
  return (
    <form {...form.props} className="flex flex-col gap-4">
      {remove.error === null || form.errors['password'] !== undefined ? null : (
        <Notice tone="bad">{errorMessage(remove.error, 'The account could not be deleted. Please try again.')}</Notice>
      )}
      {hasPassword ? (
        <Field label="Password" error={form.errors['password']}>
          {(control) => (
            <Input {...control} {...form.bind('password')} type="password" autoComplete="current-password" />
          )}
        </Field>
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="danger" busy={remove.isPending}>
          {remove.isPending ? 'Deleting…' : 'Delete account'}
        </Button>
      </div>
    </form>
  );
}
