import { errorMessage } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { fieldErrors, serverFieldErrors, useForm } from '../../../ui/form.ts';
import { useRegister } from '../account-queries.ts';
import { registerFormSchema } from './auth-forms.ts';

const EMPTY = { username: '', email: '', password: '', confirmPassword: '' };

/** The registration form. The confirmation of the password is not sent. */
export function RegisterForm({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const register = useRegister();
  const form = useForm({
    initial: EMPTY,
    validate: (values) => fieldErrors(registerFormSchema, values),
    onValid: ({ username, email, password }) =>
      register.mutate(
        { username, email, password },
        { onSuccess: onSignedIn, onError: (error) => form.setErrors(serverFieldErrors(error, Object.keys(EMPTY))) },
      ),
  });
  const { errors } = form;
  const isAtAField = Object.keys(errors).length > 0;
  return (
    <form {...form.props} className="flex flex-col gap-4">
      {register.error === null || isAtAField ? null : (
        <Notice tone="bad">{errorMessage(register.error, 'Registration failed')}</Notice>
      )}
      <Field
        label="Username"
        hint={errors['username'] === undefined ? 'At least 3 characters.' : undefined}
        error={errors['username']}
      >
        {(control) => <Input {...control} {...form.bind('username')} autoComplete="username" autoCapitalize="none" />}
      </Field>
      <Field label="Email" error={errors['email']}>
        {(control) => <Input {...control} {...form.bind('email')} type="email" autoComplete="email" />}
      </Field>
      <Field
        label="Password"
        hint={errors['password'] === undefined ? 'At least 6 characters.' : undefined}
        error={errors['password']}
      >
        {(control) => <Input {...control} {...form.bind('password')} type="password" autoComplete="new-password" />}
      </Field>
      <Field label="Confirm Password" error={errors['confirmPassword']}>
        {(control) => (
          <Input {...control} {...form.bind('confirmPassword')} type="password" autoComplete="new-password" />
        )}
      </Field>
      <Button type="submit" variant="primary" busy={register.isPending}>
        {register.isPending ? 'Creating account…' : 'Register'}
      </Button>
    </form>
  );
}
