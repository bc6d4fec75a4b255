import type { User } from '@creel/contract';
import { ExternalLink } from 'lucide-react';
import { useServiceInfo } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { usePortal } from './subscription-queries.ts';
import { hasPortal } from './subscription-state.ts';

/** Leads to the billing portal; shown only while it has something to manage. */
export function PortalButton({ user }: { readonly user: User }) {
  const portal = usePortal();
  const info = useServiceInfo();
  if (!hasPortal(user) || info.isPending || info.data?.billing === 'off') return null;
  return (
    <Button held={portal.isPending} onClick={() => portal.mutate()}>
      <ExternalLink aria-hidden /> {portal.isPending ? 'Opening…' : 'Open billing portal'}
    </Button>
  );
}
