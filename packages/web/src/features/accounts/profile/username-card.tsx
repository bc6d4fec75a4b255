import { ApiError, usernameSchema } from '@creel/contract';
import type { User } from '@creel/contract';
import { z } from 'zod';
import { Button } from '../../../ui/button.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { fieldErrors, useForm } from '../../../ui/form.ts';
import { SectionCard } from '../../../ui/page.tsx';
import { toast } from '../../../ui/toast-store.ts';
import { useChangeUsername } from '../account-queries.ts';
import { usernameFailure } from './profile-failures.ts';

const FORM = z.object({ username: usernameSchema });
/** The page reloads after a change of the username, so that every screen shows it. */
const RELOAD_AFTER_MS = 1000;

export function UsernameCard({ user }: { readonly user: User }) {
  const change = useChangeUsername();
  const form = useForm({
    initial: { username: user.username },
    validate: (values) => fieldErrors(FORM, values),
    onValid: ({ username }) =>
      change.mutate(username.trim(), {
        onSuccess: () => {
          toast({ title: 'Username updated successfully' });
          setTimeout(() => location.reload(), RELOAD_AFTER_MS);
        },
        onError: (error) =>
          form.setErrors({ username: error instanceof ApiError ? usernameFailure(error) : UNEXPECTED }),
      }),
  });
  const isChanged = form.values.username.trim() !== user.username;
  return (
    <form {...form.props}>
      <SectionCard
        title="Username"
        description="The name that you log in with."
        footer={
          <Button type="submit" variant="primary" busy={!isChanged || change.isPending}>
            {change.isPending ? 'Updating…' : 'Update Username'}
          </Button>
        }
      >
        <Field label="Username" error={form.errors['username']} className="max-w-sm">
          {(control) => <Input {...control} {...form.bind('username')} dir="auto" autoComplete="username" />}
        </Field>
      </SectionCard>
    </form>
  );
}

const UNEXPECTED = 'An unexpected error occurred. Please try again.';
