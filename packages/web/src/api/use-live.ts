import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSignedOut } from './session.ts';
import { NOT_LIVE, openLiveFeed } from './live-feed.ts';
import type { LiveStatus } from './live-feed.ts';
import { queryKeys } from './query-client.ts';
import { ALL_REQUESTS } from './request-filter.ts';
import type { ListedRequest } from './request-list.ts';
import { readList } from './list-cache.ts';
import { requestListQuery } from './request-queries.ts';

interface LiveEndpoint {
  /** Number of requests received since the page was opened. */
  readonly receivedInSession: number;
  /** The loaded requests, newest first. */
  readonly recent: readonly ListedRequest[];
}

/** Opens a live connection while the component is mounted. Its messages go into the query cache. */
export function useLiveEndpoint(uid: string): LiveEndpoint {
  const signedOut = useSignedOut();
  // Closes with the session and reopens after the next login.
  useEffect(() => (signedOut ? undefined : openLiveFeed(uid)), [uid, signedOut]);
  const { received } = useLiveStatus(uid);
  // Loads the list and renders again when it has arrived. After that, the count of received requests triggers
  // rendering, a few times a second.
  useQuery({ ...requestListQuery(uid, ALL_REQUESTS), notifyOnChangeProps: ['status'] });
  return { receivedInSession: received, recent: readList(uid).rows };
}

/** The state of the connection only. A page without an endpoint has the uid '' and no connection that could end. */
export function useLiveStatus(uid: string): LiveStatus {
  const signedOut = useSignedOut();
  const { data } = useQuery({
    queryKey: queryKeys.live(uid),
    queryFn: () => NOT_LIVE,
    initialData: NOT_LIVE,
    enabled: false,
  });
  return signedOut && uid !== '' ? { ...data, state: 'ended', lost: true } : data;
}
