import { credentialsSchema } from '@creel/contract';
import { namedError } from '../../api/client.ts';
import { TextField } from '../../ui/field.tsx';
import { Form, SubmitButton, useForm } from '../../ui/form.tsx';
import { useLogin } from './login-mutations.ts';

interface LoginFormProps {
  readonly onSignedIn: () => void;
  /** Set when the session of a known user has ended. */
  readonly username?: string;
}

/** The login form. Validation messages appear at the fields. */
export function LoginForm({ onSignedIn, username = '' }: LoginFormProps) {
  const login = useLogin();
  const form = useForm({
    initial: { username, password: '' },
    schema: credentialsSchema,
    onValid: (values) =>
      login.mutate(values, {
        onSuccess: onSignedIn,
        onError: (error) => form.fail(error, namedError(error, 'Login failed')),
      }),
  });
  return (
    <Form {...form.props} failure={form.failure}>
      <TextField label="Username" {...form.bind('username')} autoComplete="username" autoCapitalize="none" />
      <TextField
        label="Password"
        {...form.bind('password')}
        type="password"
        autoComplete="current-password"
        data-first-focus={username === '' ? undefined : true}
      />
      <SubmitButton isPending={login.isPending} label="Login" pendingLabel="Logging in…" />
    </Form>
  );
}
