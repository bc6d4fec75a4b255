import type { LiveState } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { ListedRequest } from './request-list.ts';
import { useSignedOut } from './connection.ts';
import { NOT_LIVE, openLiveFeed } from './live-feed.ts';
import type { LiveStatus } from './live-feed.ts';
import { queryKeys } from './query-keys.ts';
import { readList } from './request-lists.ts';
import { requestListQuery } from './request-queries.ts';

/** The live view of an endpoint, as the page's frame shows it. */
export interface LiveEndpoint {
  readonly state: LiveState;
  /** False once the connection is lost; true while the first one is still being made. */
  readonly connected: boolean;
  /** Requests that arrived since the page was opened. */
  readonly receivedInSession: number;
  readonly badFrames: number;
  /** What the page has loaded, newest first. */
  readonly recent: readonly ListedRequest[];
}

/** Connects to an endpoint while the component is shown; its messages go into the cache of requests (design 6). */
export function useLiveEndpoint(uid: string): LiveEndpoint {
  const signedOut = useSignedOut();
  // Ends with the session, and begins again with the next one.
  useEffect(() => (signedOut ? undefined : openLiveFeed(uid)), [uid, signedOut]);
  const status = useLiveStatus(uid);
  // Loads the list, and is drawn again when it came; from then on the count of arrivals drives the figures, a few times a second.
  useQuery({ ...requestListQuery(uid, undefined), notifyOnChangeProps: ['status'] });
  return {
    state: status.state,
    connected: !status.lost,
    receivedInSession: status.received,
    badFrames: status.badFrames,
    recent: readList(uid, undefined).rows,
  };
}

/** The connection alone, for those who need nothing else. */
export function useLiveStatus(uid: string): LiveStatus {
  const signedOut = useSignedOut();
  const { data } = useQuery({
    queryKey: queryKeys.live(uid),
    queryFn: () => NOT_LIVE,
    initialData: NOT_LIVE,
    enabled: false,
  });
  return signedOut ? { ...data, state: 'ended', lost: true } : data;
}
