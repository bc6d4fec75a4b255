// How the page notices the end of an outage. `server-state.ts` has the state, and `client.ts` and `query-client.ts` set it.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { client } from './client.ts';
import { queryKeys } from './query-client.ts';
import { isOutage, setServerState, useServerState } from './server-state.ts';

/** True if the server can be reached now. Otherwise `useServerBack` looks for the end of the outage. */
export const isServerReachable = (): Promise<boolean> =>
  client.call('getServiceInfo', {}).then(
    () => true,
    (error: unknown) => {
      if (isOutage(error)) setServerState('unavailable');
      return false;
    },
  );

const PROBE_INTERVAL_MS = 3000;

/**
 * Calls back when an outage of the server is over. Until then, the page asks for the user every 3 seconds, because the
 * server needs its database to answer.
 */
export function useServerBack(onBack: () => void): void {
  const isUp = useServerState() === 'up';
  useQuery({
    queryKey: queryKeys.probe,
    queryFn: ({ signal }) =>
      client.call('getUser', {}, signal).then(
        () => null,
        () => null,
      ),
    initialData: null,
    enabled: !isUp,
    refetchInterval: PROBE_INTERVAL_MS,
  });
  const wasUp = useRef(isUp);
  const report = useEffectEvent(onBack);
  useEffect(() => {
    if (isUp && !wasUp.current) report();
    wasUp.current = isUp;
  }, [isUp]);
}
