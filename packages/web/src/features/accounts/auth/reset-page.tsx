import { Link, useSearch } from '@tanstack/react-router';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { PublicLayout } from '../../../ui/page.tsx';
import { ResetForm } from './reset-form.tsx';

const BROKEN = 'This link is not complete. Open it again from the email, or request a new one.';

/** The page behind the link of a password reset email. */
export function ResetPage() {
  const { token } = useSearch({ from: '/auth/reset' });
  return (
    <PublicLayout
      title="Set a new password"
      heading="Set a new password"
      description="The link works once, for 30 minutes. Every other session is logged out."
    >
      {token === undefined || token === '' ? <Notice tone="bad">{BROKEN}</Notice> : <ResetForm token={token} />}
      <Button asChild variant="ghost">
        <Link to="/auth">Back to login</Link>
      </Button>
    </PublicLayout>
  );
}
