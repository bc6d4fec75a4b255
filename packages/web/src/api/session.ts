import type { User } from '@creel/contract';
import { z } from 'zod';
import { signal, useSignal } from '../ui/state.ts';
import { queryClient, queryKeys, refetchFailedQueries } from './query-client.ts';

/**
 * The state of the session: active, ended (the login dialog is open), or dismissed (the user has closed that dialog).
 */
const session = signal<'active' | 'ended' | 'dismissed'>('active');

/** Call this after a login. Loads again what failed without a session. */
export function markSessionActive(): void {
  session.set('active');
  refetchFailedQueries();
}

/** Call this when the server reports that the session has ended: a 401, or close code 4401 of the live connection. */
export const markSessionEnded = (): void => {
  if (session.read() === 'active') session.set('ended');
};

/** Opens the login dialog even if the user has dismissed it, because an action of theirs failed. */
export const openLoginDialog = (): void => session.set('ended');

/** The user dismisses the login dialog and keeps reading what is loaded. */
export const dismissLoginDialog = (): void => {
  if (session.read() === 'ended') session.set('dismissed');
};

/** True from the end of the session until the next login. */
export const isSignedOut = (): boolean => session.read() !== 'active';
export const useSignedOut = (): boolean => useSignal(session) !== 'active';
export const useIsLoginDialogOpen = (): boolean => useSignal(session) === 'ended';

/** Work that the page has reported as done, and that still needs the session. */
const unfinished = new Set<() => Promise<void>>();

/** Lets a logout wait for `finish`. Returns a function that takes it back. */
export function finishBeforeLogout(finish: () => Promise<void>): () => void {
  unfinished.add(finish);
  return () => unfinished.delete(finish);
}

/** Call this before a logout. */
export async function finishWork(): Promise<void> {
  await Promise.all([...unfinished].map((finish) => finish()));
}

const sessionMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('signed-out') }),
  z.object({ type: z.literal('signed-in'), userId: z.int() }),
]);
type SessionMessage = z.infer<typeof sessionMessageSchema>;

/** One channel sends and receives: it does not receive its own messages, but a second one in the same page would. */
const channel = new BroadcastChannel('creel-session');

/** Notifies the other tabs of this browser, which share the session, of a login or logout. */
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
