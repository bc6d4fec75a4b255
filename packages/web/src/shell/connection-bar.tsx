import { useQuery } from '@tanstack/react-query';
import { CloudOff } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useReachable } from '../api/connection.ts';
import { serviceInfoQuery } from '../api/queries.ts';
import { refetchFailedQueries } from '../api/query-client.ts';

const POLL_INTERVAL_MS = 3000;

/** Shown while the server can't be reached. Polls the server, then loads all failed queries again. */
export function ConnectionBar() {
  const reachable = useReachable();
  useQuery({
    ...serviceInfoQuery,
    staleTime: reachable ? Number.POSITIVE_INFINITY : 0,
    refetchInterval: reachable ? false : POLL_INTERVAL_MS,
  });
  const wasReachable = useRef(true);
  useEffect(() => {
    if (reachable && !wasReachable.current) refetchFailedQueries();
    wasReachable.current = reachable;
  }, [reachable]);
  if (reachable) return null;
  return (
    <div role="status" className="flex items-center justify-center gap-2 bg-warn-soft px-4 py-1.5 text-warn">
      <CloudOff aria-hidden className="size-4 shrink-0" />
      Can't reach the server. Reconnecting…
    </div>
  );
}
