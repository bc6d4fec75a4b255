import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { PublicLayout } from '../../../ui/page.tsx';
import { TabPanel, Tabs } from '../../../ui/tabs.tsx';
import { ownPath } from '../../../ui/urls.ts';
import { ForgotPassword } from './forgot-password.tsx';
import { LoginForm } from './login-form.tsx';
import { ProviderButton } from './provider-button.tsx';
import { RegisterForm } from './register-form.tsx';

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
        onValueChange={(value) => void navigate({ to: '/auth', search: { tab: value, next }, replace: true })}
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
      <ForgotPassword open={isForgetting} onOpenChange={setForgetting} />
    </PublicLayout>
  );
}
