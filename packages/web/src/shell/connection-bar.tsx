import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { CloudOff } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useReachable } from '../api/connection.ts';
import { useLiveStatus } from '../api/live-cache.ts';
import { serviceInfoQuery } from '../api/queries.ts';
import { refetchFailedQueries } from '../api/query-client.ts';
import { dismissErrorsAfter, newestToastId } from '../ui/toast-store.ts';
import { connectionMessage } from './connection-message.ts';

const POLL_INTERVAL_MS = 3000;

/**
 * The only message about a lost connection. It floats, so that it moves nothing. While the server can't be reached, it
 * is polled; afterwards all failed queries are loaded again, and the error messages of the outage close.
 */
export function ConnectionBar() {
  const reachable = useReachable();
  const { uid = '' } = useParams({ strict: false });
  const live = useLiveStatus(uid);
  useQuery({
    ...serviceInfoQuery,
    staleTime: reachable ? Number.POSITIVE_INFINITY : 0,
    refetchInterval: reachable ? false : POLL_INTERVAL_MS,
  });
  const isDown = !reachable || (live.lost && live.state !== 'ended');
  const before = useRef<{ readonly toastId: number }>(undefined);
  useEffect(() => {
    if (isDown) before.current ??= { toastId: newestToastId() };
    else if (before.current !== undefined) {
      dismissErrorsAfter(before.current.toastId);
      before.current = undefined;
      refetchFailedQueries();
    }
  }, [isDown]);
  const message = connectionMessage(reachable, live);
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 top-2 z-50 flex justify-center px-4">
      {message === undefined ? null : (
        <p className="flex items-center gap-2 rounded-full border border-warn bg-warn-soft px-3.5 py-1 text-warn shadow-float">
          <CloudOff aria-hidden className="size-4 shrink-0" />
          {message}
        </p>
      )}
    </div>
  );
}
