import { noteSignedOut } from './connection.ts';
import { queryClient } from './query-client.ts';
import { queryKeys } from './query-keys.ts';

const NAME = 'creel-session';
type News = 'signed-in' | 'signed-out';

/** The other tabs of this browser share the session; they hear of its beginning and end at once. */
export function tellOtherTabs(news: News): void {
  const channel = new BroadcastChannel(NAME);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel reaches its own origin alone and takes no target
  channel.postMessage(news);
  channel.close();
}

/** Listens for what other tabs tell. A tab that shows nobody's screens has nothing to lose and stays quiet. */
export function listenToOtherTabs(onSignedIn: () => void): () => void {
  const channel = new BroadcastChannel(NAME);
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!queryClient.getQueryData(queryKeys.user)) return;
    if (data === 'signed-out') noteSignedOut(true);
    if (data === 'signed-in') onSignedIn();
  };
  return () => channel.close();
}
