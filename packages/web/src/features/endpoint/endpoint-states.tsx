import { Link } from '@tanstack/react-router';
import { CloudOff, Unplug } from 'lucide-react';
import { sentenceOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

export function EndpointLoading() {
  return (
    <div role="status" className="flex h-full flex-col gap-4 p-5">
      <p className="text-ink-2">Loading endpoint...</p>
      <Skeleton className="h-8 w-72 max-w-full" />
      <Skeleton className="h-10" />
      <Skeleton className="h-16" />
      <Skeleton className="min-h-40 grow" />
    </div>
  );
}

export function EndpointNotFound() {
  return (
    <div className="grid h-full place-items-center">
      <EmptyState
        page
        icon={<Unplug />}
        title="Endpoint Not Found"
        actions={
          <Button asChild variant="primary">
            <Link to="/">Go Home</Link>
          </Button>
        }
      >
        The webhook endpoint you&apos;re looking for doesn&apos;t exist or has expired.
      </EmptyState>
    </div>
  );
}

export function EndpointFailed({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <div className="grid h-full place-items-center">
      <EmptyState
        page
        error
        icon={<CloudOff />}
        title="The endpoint could not be loaded"
        actions={<Button onClick={onRetry}>Try again</Button>}
      >
        {sentenceOf(error, 'Please try again.')}
      </EmptyState>
    </div>
  );
}
