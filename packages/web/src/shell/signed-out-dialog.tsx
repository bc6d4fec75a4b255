import { useRouter } from '@tanstack/react-router';
import { dismissLoginDialog, useIsLoginDialogOpen } from '../api/connection.ts';
import { useUser } from '../api/queries.ts';
import { LoginForm } from '../features/accounts/auth/login-form.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** Shown when the session has ended. Everything behind this dialog stays as it is, including unsent input. */
export function SignedOutDialog() {
  const asks = useIsLoginDialogOpen();
  const user = useUser();
  const router = useRouter();
  const next = router.state.location.href;
  return (
    <Dialog
      open={asks}
      onOpenChange={dismissLoginDialog}
      title="You have been logged out"
      description="Your session has ended. Log in again to continue. Unsaved input on this page is kept."
    >
      <LoginForm username={user?.username ?? ''} onSignedIn={() => void router.invalidate()} />
      <Button asChild variant="ghost" className="mt-3 w-full">
        <a href={`/auth?next=${encodeURIComponent(next)}`}>Go to the login page instead</a>
      </Button>
    </Dialog>
  );
}
