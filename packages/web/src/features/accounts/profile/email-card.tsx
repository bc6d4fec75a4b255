import type { User } from '@creel/contract';
import { errorMessage } from '../../../api/client.ts';
import { useServiceInfo } from '../../../api/queries.ts';
import { Badge } from '../../../ui/badges.tsx';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { SectionCard } from '../../../ui/page.tsx';
import { useRequestEmailVerification } from '../account-queries.ts';

/** The email of the account, and whether it is verified. */
export function EmailCard({ user }: { readonly user: User }) {
  const info = useServiceInfo();
  const verify = useRequestEmailVerification();
  const canAsk = !user.emailVerified && info.data?.mail === true;
  return (
    <SectionCard
      title="Email"
      description="Needed to reset your password and to log in through a third party."
      footer={
        canAsk ? (
          <Button busy={verify.isPending || verify.isSuccess} onClick={() => verify.mutate()}>
            {verify.isPending ? 'Sending…' : 'Send confirmation link'}
          </Button>
        ) : undefined
      }
    >
      <div className="flex flex-col gap-3">
        <p className="flex min-w-0 items-center gap-2">
          <span className="truncate">{user.email}</span>
          <Badge tone={user.emailVerified ? 'success' : 'warning'}>
            {user.emailVerified ? 'Confirmed' : 'Not confirmed'}
          </Badge>
        </p>
        {!user.emailVerified && info.data?.mail === false ? (
          <Notice>Email is off on this server, so the address cannot be confirmed.</Notice>
        ) : null}
        {verify.isSuccess ? <Notice tone="good">{verify.data.message}</Notice> : null}
        {verify.isError ? (
          <Notice tone="bad">{errorMessage(verify.error, 'The link could not be sent. Please try again.')}</Notice>
        ) : null}
      </div>
    </SectionCard>
  );
}
