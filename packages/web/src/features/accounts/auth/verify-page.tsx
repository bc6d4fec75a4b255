import { Link, useSearch } from '@tanstack/react-router';
import { errorMessage } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { PublicLayout } from '../../../ui/page.tsx';
import { useVerifyEmail } from '../account-queries.ts';

const BROKEN = 'This link is not complete. Open it again from the email, or request a new one.';
const FAILED = 'The email could not be confirmed. Request a new link on your profile page.';

/** The page behind the link of a verification email. The user has to click, because mail scanners follow links. */
export function VerifyPage() {
  const { token } = useSearch({ from: '/auth/verify' });
  const verify = useVerifyEmail();
  return (
    <PublicLayout
      title="Confirm your email"
      heading="Confirm your email"
      description="One click proves that this address is yours."
    >
      {token === undefined || token === '' ? <Notice tone="bad">{BROKEN}</Notice> : null}
      {verify.isError ? <Notice tone="bad">{errorMessage(verify.error, FAILED)}</Notice> : null}
      {verify.isSuccess ? <Notice tone="good">{verify.data.message}</Notice> : null}
      {token === undefined || token === '' || verify.isSuccess ? null : (
        <Button variant="primary" busy={verify.isPending} onClick={() => verify.mutate(token)}>
          {verify.isPending ? 'Confirming…' : 'Confirm email'}
        </Button>
      )}
      <Button asChild variant="ghost">
        <Link to="/">Go to Creel</Link>
      </Button>
    </PublicLayout>
  );
}
