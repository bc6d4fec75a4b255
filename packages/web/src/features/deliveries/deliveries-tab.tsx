import { MAX_ATTEMPTS_PER_REQUEST } from '@creel/contract';
import type { DeliveryAttempt } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { Forward } from 'lucide-react';
import { useState } from 'react';
import { failureOf } from '../../api/client.ts';
import type { RequestPartProps } from '../../api/request-list.ts';
import { Button } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';
import { EmptyState, LoadError, Loading, Notice } from '../../ui/feedback.tsx';
import { toggled } from '../../ui/state.ts';
import { AttemptRow, WaitingRow } from './attempt-row.tsx';
import { deliveriesQuery } from './delivery-queries.ts';

const LOADING = <Loading label="Loading the deliveries" bars={['h-4 w-2/3', 'h-4 w-1/2']} className="gap-3 p-4" />;

interface DeliveriesTabProps extends RequestPartProps {
  /** Opens the replay form with the method and the URL of an attempt. */
  readonly onReplay: (attempt: DeliveryAttempt) => void;
}

/**
 * Every attempt to send a request: by a destination, a replay, or `creel forward`. Newest first, after the destinations
 * that have not been tried yet.
 */
export function DeliveriesTab({ uid, request, onReplay }: DeliveriesTabProps) {
  const deliveries = useQuery(deliveriesQuery(uid, request));
  const attempts = deliveries.data;
  /** `undefined` until the user opens or closes an attempt; until then the newest one is open. */
  const [chosen, setChosen] = useState<ReadonlySet<string>>();
  if (attempts === undefined) {
    if (!deliveries.isError) return LOADING;
    return <LoadError title="The deliveries could not be loaded" {...failureOf(deliveries)} />;
  }
  const [first] = attempts;
  // A request that waits gets its first entry in a moment.
  if (first === undefined)
    return request.deliveryPending ? LOADING : <NoAttempts refusal={request.lastDelivery?.error ?? undefined} />;
  const newest = attempts.find((attempt) => !isWaiting(attempt)) ?? first;
  const open = chosen ?? new Set([keyOf(newest)]);
  const tried = attempts.filter((attempt) => !isWaiting(attempt)).length;
  return (
    <>
      <ul aria-label="Deliveries, newest first">
        {attempts.map((attempt) => {
          const key = keyOf(attempt);
          const isOpen = open.has(key);
          const row = { uid, attempt, isOpen, onToggle: () => setChosen(toggled(open, key)) };
          return isWaiting(attempt) ? (
            <WaitingRow key={key} {...row} />
          ) : (
            <AttemptRow key={key} index={request.index} onReplay={() => onReplay(attempt)} {...row} />
          );
        })}
      </ul>
      {tried < MAX_ATTEMPTS_PER_REQUEST ? null : (
        <p className="px-4 py-3 text-sm text-ink-2">Only the newest {MAX_ATTEMPTS_PER_REQUEST} attempts are kept.</p>
      )}
    </>
  );
}

/** True for a delivery that waits for its first attempt. */
const isWaiting = ({ attempt }: DeliveryAttempt): boolean => attempt === 0;

/** What waits has no id yet, and at most one entry per delivery. */
const keyOf = ({ id, deliveryId }: DeliveryAttempt): string => (id === 0 ? deliveryId : String(id));

/** `refusal` says why a capture is not forwarded. Then there is no attempt. */
function NoAttempts({ refusal }: { readonly refusal: string | undefined }) {
  return (
    <>
      {refusal === undefined ? null : (
        <Notice tone="warn" className="m-4">
          {refusal}
        </Notice>
      )}
      <EmptyState
        icon={<Forward />}
        title="Not sent anywhere"
        actions={
          <>
            <Button onClick={() => runCommand(COMMAND_IDS.forward)}>Forward new requests</Button>
            <Button onClick={() => runCommand(COMMAND_IDS.replay)}>Replay this one</Button>
          </>
        }
      >
        Each attempt to forward or replay this request is listed here, with its response.
      </EmptyState>
    </>
  );
}
