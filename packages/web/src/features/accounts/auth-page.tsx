import { emailSchema } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { z } from 'zod';
import { client, errorMessage, namedError } from '../../api/client.ts';
import { useServiceInfo } from '../../api/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/feedback.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, SubmitButton, useForm } from '../../ui/form.tsx';
import { PublicLayout } from '../../ui/page.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';
import { ownPath } from '../../ui/urls.ts';
import { registerFormSchema } from './account-forms.ts';
import { useRegister } from './login-mutations.ts';
import { LoginForm } from './login-form.tsx';
import { ProviderButton } from './provider-button.tsx';

const TABS = [
  { value: 'login', label: 'Login' },
  { value: 'register', label: 'Register' },
] as const;

/** Login and registration. Afterwards the user returns to the page that they wanted. */
export function AuthPage() {
  const { tab = 'login', next } = useSearch({ from: '/auth' });
  const navigate = useNavigate();
  const router = useRouter();
  const [isForgetting, setForgetting] = useState(false);
  const onSignedIn = (): void => router.history.replace(ownPath(next));
  const onTab = (shown: 'login' | 'register'): void =>
    void navigate({
      to: '/auth',
      search: { tab: shown, next },
      mask: { to: '/auth', search: { tab: shown }, unmaskOnReload: true },
      replace: true,
    });
  return (
    <PublicLayout
      title={tab === 'login' ? 'Login' : 'Register'}
      heading="Catch every webhook"
      description="See requests as they arrive, keep the ones that matter, and send them again."
    >
      <Tabs
        label="Login or register"
        tabs={TABS}
        value={tab}
        onValueChange={onTab}
        className="flex flex-col gap-4"
        listClassName="border-b border-line pb-2"
      >
        <TabPanel value="login" hasControls className="flex flex-col gap-4">
          <LoginForm onSignedIn={onSignedIn} />
          <button
            type="button"
            className="self-center text-sm text-accent hover:underline"
            onClick={() => setForgetting(true)}
          >
            Forgot your password?
          </button>
        </TabPanel>
        <TabPanel value="register" hasControls>
          <RegisterForm onSignedIn={onSignedIn} />
        </TabPanel>
      </Tabs>
      <div className="flex items-center gap-3 text-sm text-ink-2 before:h-px before:grow before:bg-line after:h-px after:grow after:bg-line">
        or
      </div>
      <ProviderButton onSignedIn={onSignedIn} />
      {isForgetting ? <ForgotPassword onClose={() => setForgetting(false)} /> : null}
    </PublicLayout>
  );
}

const EMPTY = { username: '', email: '', password: '', confirmPassword: '' };

/** The registration form. The confirmation of the password is not sent. */
function RegisterForm({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const register = useRegister();
  const form = useForm({
    initial: EMPTY,
    schema: registerFormSchema,
    onValid: ({ username, email, password }) =>
      register.mutate(
        { username, email, password },
        { onSuccess: onSignedIn, onError: (error) => form.fail(error, namedError(error, 'Registration failed')) },
      ),
  });
  const { errors } = form;
  return (
    <Form {...form.props} failure={form.failure}>
      <TextField
        label="Username"
        hint={errors['username'] === undefined ? 'At least 3 characters.' : undefined}
        {...form.bind('username')}
        autoComplete="username"
        autoCapitalize="none"
      />
      <TextField label="Email" {...form.bind('email')} type="email" autoComplete="email" />
      <TextField
        label="Password"
        hint={errors['password'] === undefined ? 'At least 6 characters.' : undefined}
        {...form.bind('password')}
        type="password"
        autoComplete="new-password"
      />
      <TextField
        label="Confirm Password"
        {...form.bind('confirmPassword')}
        type="password"
        autoComplete="new-password"
      />
      <SubmitButton isPending={register.isPending} label="Register" pendingLabel="Creating account…" />
    </Form>
  );
}

const FORM = z.object({ email: emailSchema });

/** Requests a password reset link. The response is the same whether or not the address is known. */
function ForgotPassword({ onClose }: { readonly onClose: () => void }) {
  const info = useServiceInfo();
  const isMailOff = info.data?.mail === false;
  return (
    <Dialog onClose={onClose} title="Reset your password" description="We email you a link to set a new password.">
      {isMailOff ? (
        <Notice tone="warn">
          Email is off on this server, so no link can be sent. Ask the administrator of the server.
        </Notice>
      ) : (
        <ResetRequestForm />
      )}
    </Dialog>
  );
}

function ResetRequestForm() {
  const request = useMutation({
    mutationFn: (email: string) => client.call('requestPasswordReset', { body: { email } }),
  });
  const form = useForm({
    initial: { email: '' },
    schema: FORM,
    onValid: ({ email }) =>
      request.mutate(email, {
        onError: (error) => form.fail(error, errorMessage(error, 'The link could not be sent. Please try again.')),
      }),
  });
  if (request.isSuccess) return <Notice tone="good">{request.data.message}</Notice>;
  return (
    <Form {...form.props} failure={form.failure}>
      <TextField label="Email" {...form.bind('email')} type="email" autoComplete="email" />
      <SubmitButton isPending={request.isPending} label="Send link" pendingLabel="Sending…" className="self-end" />
    </Form>
  );
}
