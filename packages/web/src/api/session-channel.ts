import type { User } from '@creel/contract';
import { z } from 'zod';
import { markSessionActive, markSessionEnded } from './connection.ts';
import { queryClient } from './query-client.ts';
import { queryKeys } from './query-keys.ts';

const sessionMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('signed-out') }),
  z.object({ type: z.literal('signed-in'), userId: z.int() }),
]);
type SessionMessage = z.infer<typeof sessionMessageSchema>;

/**
 * One channel sends and receives, because a channel does not receive its own messages but would receive those of a
 * second channel in the same page.
 */
const channel = new BroadcastChannel('creel-session');

/** Tells the other tabs of this browser, which share the session, about a login or logout. */
export function notifyOtherTabs(news: SessionMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel reaches its own origin alone and takes no target
  channel.postMessage(news);
}

/** Handles messages from other tabs. A tab without a logged-in user ignores them. */
export function listenToOtherTabs(): () => void {
  const onMessage = ({ data }: MessageEvent<unknown>): void => {
    const news = sessionMessageSchema.safeParse(data);
    const user = queryClient.getQueryData<User | null>(queryKeys.user);
    if (!news.success || !user) return;
    if (news.data.type === 'signed-out') markSessionEnded();
    else if (news.data.userId === user.id) markSessionActive();
    // Another user has logged in: nothing on this page belongs to them.
    else location.assign('/');
  };
  channel.addEventListener('message', onMessage);
  return () => channel.removeEventListener('message', onMessage);
}
