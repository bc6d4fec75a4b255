import { useSyncExternalStore } from 'react';
import { signal } from './signal.ts';

/** False after a call that got no answer, until one does. */
const reachable = signal(true);

/** What became of the session: it stands; it ended and the person is asked to sign in again; it ended and they will do so later. */
const session = signal<'stands' | 'ended' | 'set aside'>('stands');

export const noteReachable = (isReachable: boolean): void => reachable.set(isReachable);
export const useReachable = (): boolean => useSyncExternalStore(reachable.subscribe, reachable.read);

/** Somebody is signed in. */
export const noteSignedIn = (): void => session.set('stands');

/** To be called wherever the server shows that the session is over: a 401, or the live socket's close code 4401. */
export const noteSignedOut = (): void => {
  if (session.read() === 'stands') session.set('ended');
};

/** The same for what the person did themselves: it can't go on, so they are asked even if they had set that aside. */
export const askToSignIn = (): void => session.set('ended');

/** The person goes on looking at what is there, without signing in. */
export const setSignInAside = (): void => {
  if (session.read() === 'ended') session.set('set aside');
};

/** True from the end of the session until somebody is signed in again. */
export const isSignedOut = (): boolean => session.read() !== 'stands';
export const useSignedOut = (): boolean => useSyncExternalStore(session.subscribe, isSignedOut);
export const useAsksToSignIn = (): boolean => useSyncExternalStore(session.subscribe, () => session.read() === 'ended');
