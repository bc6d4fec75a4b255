import type { User } from '@creel/contract';
import { z } from 'zod';
import { noteSignedIn, noteSignedOut } from './connection.ts';
import { queryClient } from './query-client.ts';
import { queryKeys } from './query-keys.ts';

const newsSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('signed-out') }),
  z.object({ type: z.literal('signed-in'), userId: z.int() }),
]);
type News = z.infer<typeof newsSchema>;

/** One channel for speaking and listening: a channel does not hear itself, but it would hear a second one of its own page. */
const channel = new BroadcastChannel('creel-session');

/** The other tabs of this browser share the session; they hear of its beginning and end at once. */
export function tellOtherTabs(news: News): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel reaches its own origin alone and takes no target
  channel.postMessage(news);
}

/** Listens for what other tabs tell. A tab that shows nobody's screens has nothing to lose and stays quiet. */
export function listenToOtherTabs(): () => void {
  const onMessage = ({ data }: MessageEvent<unknown>): void => {
    const news = newsSchema.safeParse(data);
    const user = queryClient.getQueryData<User | null>(queryKeys.user);
    if (!news.success || !user) return;
    if (news.data.type === 'signed-out') noteSignedOut();
    else if (news.data.userId === user.id) noteSignedIn();
    // Another person's session: nothing that is shown here is theirs.
    else location.assign('/');
  };
  channel.addEventListener('message', onMessage);
  return () => channel.removeEventListener('message', onMessage);
}
