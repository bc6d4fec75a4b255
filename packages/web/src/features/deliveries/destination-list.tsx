import { MAX_DESTINATIONS } from '@creel/contract';
import type { Destination } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { CloudOff, Forward, Plus } from 'lucide-react';
import { errorMessage } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState, Skeleton } from '../../ui/feedback.tsx';
import { destinationsQuery } from './delivery-queries.ts';
import { DestinationCard } from './destination-card.tsx';

interface DestinationListProps {
  readonly uid: string;
  readonly onAdd: () => void;
  readonly onEdit: (destination: Destination) => void;
}

/** The destinations of an endpoint with their states. */
export function DestinationList({ uid, onAdd, onEdit }: DestinationListProps) {
  const { data: destinations, error, refetch } = useQuery(destinationsQuery(uid));
  if (destinations === undefined && error !== null) {
    return (
      <EmptyState
        error
        icon={<CloudOff />}
        title="The destinations could not be loaded"
        actions={<Button onClick={() => void refetch()}>Try again</Button>}
      >
        {errorMessage(error, 'The server can not be reached.')}
      </EmptyState>
    );
  }
  if (destinations === undefined) {
    return (
      <div role="status" aria-label="Loading the destinations" className="flex flex-col gap-3">
        <Skeleton className="h-20 w-full" />
        <Skeleton className="h-20 w-full" />
      </div>
    );
  }
  const isFull = destinations.length >= MAX_DESTINATIONS;
  const add = (
    <Button variant="primary" disabled={isFull} onClick={onAdd}>
      <Plus /> Add destination
    </Button>
  );
  if (destinations.length === 0) {
    return (
      <EmptyState icon={<Forward />} title="No destinations yet" actions={add} className="py-8!">
        The server sends each new capture on to a destination, byte for byte, and tries again for up to 9 hours if it
        fails.
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      <ul aria-label="Destinations" className="flex flex-col gap-2">
        {destinations.map((destination) => (
          <DestinationCard
            key={destination.id}
            uid={uid}
            destination={destination}
            onEdit={() => onEdit(destination)}
          />
        ))}
      </ul>
      <div className="flex flex-wrap items-center justify-end gap-3">
        {isFull ? (
          <p className="grow text-sm text-ink-2">
            An endpoint can have at most {MAX_DESTINATIONS} destinations. Delete one to add another.
          </p>
        ) : null}
        {add}
      </div>
    </div>
  );
}
