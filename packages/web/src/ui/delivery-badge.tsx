import { isDelivered } from '@creel/contract';
import type { ShownDelivery } from '@creel/contract';
import { Badge } from './badge.tsx';

const KINDS = { forward: 'Forwarded', replay: 'Replayed', cli: 'creel forward' } as const;

/** The status of the latest delivery: quiet for 2xx, amber while another attempt is planned, else red. */
export function DeliveryBadge({ delivery }: { readonly delivery: ShownDelivery | null }) {
  if (delivery === null) return null;
  const { kind, status, error, pending } = delivery;
  const outcome = status === null ? (error ?? 'No response') : `status ${status}`;
  const tone = pending ? 'warning' : isDelivered(status) ? 'neutral' : 'destructive';
  return (
    <Badge tone={tone} className="font-mono">
      <span title={`${KINDS[kind]}: ${outcome}${pending ? '. Another attempt is planned.' : ''}`}>
        <span className="sr-only">{pending ? 'Delivery is retried, latest: ' : 'Delivery: '}</span>
        {status ?? 'Failed'}
        {pending ? <span aria-hidden> ↻</span> : null}
      </span>
    </Badge>
  );
}
