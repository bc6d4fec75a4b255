// How the page notices the end of an outage. `server-state.ts` has the state, and `client.ts` and `query-client.ts` set it.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useSignal } from '../ui/state.ts';
import { client } from './client.ts';
import { queryKeys } from './query-client.ts';
import { msToWait, noteOutage, serverState } from './server-state.ts';

/** Milliseconds after which a server that does not answer a check counts as unreachable. */
const CHECK_MS = 5000;

/** True if a call succeeds. Notes an outage if it fails because of one. */
const succeeds = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    (error: unknown) => {
      noteOutage(error);
      return false;
    },
  );

/** True if the server can be reached now. Otherwise `useServerBack` looks for the end of the outage. */
export const isServerReachable = (): Promise<boolean> =>
  succeeds(client.call('getServiceInfo', {}, AbortSignal.timeout(CHECK_MS)));

/**
 * Calls back when the server can't be reached, which the browser's sockets notice late or never. One failed call can have
 * other causes, so the server is asked again.
 */
export function watchOutage(onOutage: () => void): () => void {
  return serverState.subscribe(() => {
    if (serverState.read() === 'unreachable') void isServerReachable().then((isUp) => (isUp ? undefined : onOutage()));
  });
}

const PROBE_INTERVAL_MS = 3000;

/** Asks for the user, because the server needs its database to answer. Waits as long as `Retry-After` says. */
const probeQuery = queryOptions({
  queryKey: queryKeys.probe,
  queryFn: ({ signal }) => succeeds(client.call('getUser', {}, signal)),
  initialData: false,
  refetchInterval: () => Math.max(PROBE_INTERVAL_MS, msToWait()),
});

/** Calls back when an outage of the server is over. Until then, the page asks every 3 seconds. */
export function useServerBack(onBack: () => void): void {
  const isUp = useSignal(serverState) === 'up';
  useEffect(() => {
    // Only a call tells whether the server is gone, too: a local one can be reached without a network.
    const onOffline = (): void => void isServerReachable();
    addEventListener('offline', onOffline);
    return () => removeEventListener('offline', onOffline);
  }, []);
  useQuery({ ...probeQuery, enabled: !isUp });
  const wasUp = useRef(isUp);
  const report = useEffectEvent(onBack);
  useEffect(() => {
    if (isUp && !wasUp.current) report();
    wasUp.current = isUp;
  }, [isUp]);
}
