import { useSyncExternalStore } from 'react';
import { signal } from './signal.ts';

/** False after a call that got no answer, until one does. */
const reachable = signal(true);

/** True after the server said that this browser is no longer signed in, until it is again. */
const signedOut = signal(false);

export const noteReachable = (isReachable: boolean): void => reachable.set(isReachable);
export const useReachable = (): boolean => useSyncExternalStore(reachable.subscribe, reachable.read);

/** To be called wherever the server shows that the session is over: a 401, or the live socket's close code 4401. */
export const noteSignedOut = (isSignedOut: boolean): void => signedOut.set(isSignedOut);
export const useSignedOut = (): boolean => useSyncExternalStore(signedOut.subscribe, signedOut.read);
