import { ApiError, credentialsSchema } from '@creel/contract';
import { errorMessage } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/feedback.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { fieldErrors, serverFieldErrors, useForm } from '../../ui/form.ts';
import { useLogin } from './account-queries.ts';

const EMPTY = { username: '', password: '' };

interface LoginFormProps {
  readonly onSignedIn: () => void;
  /** Set when the session of a known user has ended. */
  readonly username?: string;
}

/** The login form. Validation messages appear at the fields. */
export function LoginForm({ onSignedIn, username = '' }: LoginFormProps) {
  const login = useLogin();
  const form = useForm({
    initial: { ...EMPTY, username },
    validate: (values) => fieldErrors(credentialsSchema, values),
    onValid: (values) =>
      login.mutate(values, {
        onSuccess: onSignedIn,
        onError: (error) => form.refuse(serverFieldErrors(error, Object.keys(EMPTY))),
      }),
  });
  return (
    <form {...form.props} className="flex flex-col gap-4">
      <LoginProblem error={login.error} hasFieldErrors={Object.keys(form.errors).length > 0} />
      <Field label="Username" error={form.errors['username']}>
        {(control) => <Input {...control} {...form.bind('username')} autoComplete="username" autoCapitalize="none" />}
      </Field>
      <Field label="Password" error={form.errors['password']}>
        {(control) => (
          <Input
            {...control}
            {...form.bind('password')}
            type="password"
            autoComplete="current-password"
            data-first-focus={username === '' ? undefined : true}
          />
        )}
      </Field>
      <Button type="submit" variant="primary" busy={login.isPending}>
        {login.isPending ? 'Logging in…' : 'Login'}
      </Button>
    </form>
  );
}

function LoginProblem({ error, hasFieldErrors }: { readonly error: unknown; readonly hasFieldErrors: boolean }) {
  if (error === null || hasFieldErrors) return null;
  const wait = error instanceof ApiError ? error.retryAfter : undefined;
  const later = wait === undefined ? '' : ` You can try again in ${inWords(wait)}.`;
  return <Notice tone="bad">{errorMessage(error, 'Login failed') + later}</Notice>;
}

/** '45 seconds', '3 minutes'. */
function inWords(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 90) return `${whole} second${whole === 1 ? '' : 's'}`;
  return `${Math.ceil(whole / 60)} minutes`;
}
