import { useSyncExternalStore } from 'react';
import { signal, useSignal } from '../ui/state.ts';

/** False after a call that got no response, until a call gets one. */
const reachable = signal(true);

/**
 * The state of the session: active, ended (the login dialog is open), or dismissed (the user has closed that dialog).
 */
const session = signal<'active' | 'ended' | 'dismissed'>('active');

export const setReachable = (isReachable: boolean): void => reachable.set(isReachable);
export const useReachable = (): boolean => useSignal(reachable);

/** Call this after a login. */
export const markSessionActive = (): void => session.set('active');

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
export const useSignedOut = (): boolean => useSyncExternalStore(session.subscribe, isSignedOut);
export const useIsLoginDialogOpen = (): boolean =>
  useSyncExternalStore(session.subscribe, () => session.read() === 'ended');
