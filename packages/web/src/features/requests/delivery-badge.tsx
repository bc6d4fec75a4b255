import { isDelivered } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { Badge } from '../../ui/badges.tsx';

const KINDS = { forward: 'Forwarded', replay: 'Replayed', cli: 'creel forward' } as const;

interface DeliveryBadgeProps {
  readonly request: Pick<CapturedRequest, 'lastDelivery' | 'deliveryPending'>;
  readonly dense?: boolean;
}

/** The status of the latest delivery: quiet for 2xx, amber while an attempt is planned, else red. */
export function DeliveryBadge({ request, dense = false }: DeliveryBadgeProps) {
  const { lastDelivery, deliveryPending: pending } = request;
  if (lastDelivery === null) return pending ? <Waiting dense={dense} /> : null;
  const { kind, status, error } = lastDelivery;
  const outcome = status === null ? (error ?? 'No response') : `status ${status}`;
  const tone = pending ? 'warning' : isDelivered(status) ? 'neutral' : 'destructive';
  return (
    <Badge tone={tone} dense={dense} className="font-mono">
      <span title={`${KINDS[kind]}: ${outcome}${pending ? '. Another attempt is planned.' : ''}`}>
        <span className="sr-only">{pending ? 'Delivery is retried, latest: ' : 'Delivery: '}</span>
        {status ?? 'Failed'}
        {pending ? (
          <span aria-hidden className="ml-1">
            ↻
          </span>
        ) : null}
      </span>
    </Badge>
  );
}

function Waiting({ dense }: { readonly dense: boolean }) {
  return (
    <Badge tone="warning" dense={dense}>
      <span title="The first attempt to forward it is planned.">
        <span className="sr-only">Delivery: </span>Waiting
      </span>
    </Badge>
  );
}
