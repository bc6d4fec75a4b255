import { ApiError, PROVIDER_CHANNEL, providerMessageSchema } from '@creel/contract';
import type { ProviderMessage, ServiceInfo } from '@creel/contract';
import { useEffect, useRef, useState } from 'react';
import { errorMessage } from '../../api/client.ts';
import { useServiceInfo } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/feedback.tsx';
import { useProviderLogin } from './login-mutations.ts';

/** Third-party login. Disabled with a reason if the server has none configured. */
export function ProviderButton({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const info = useServiceInfo();
  const { start, busy, problem } = useProviderSignIn(info.data, onSignedIn);
  const name = info.data?.signIn?.name ?? 'Google';
  const isOff = info.data?.signIn === null;
  return (
    <div className="flex flex-col gap-2">
      {problem === undefined ? null : <Notice tone="bad">{problem}</Notice>}
      <Button
        className="w-full"
        variant={isOff ? 'ghost' : 'secondary'}
        disabled={!info.data?.signIn}
        busy={busy}
        aria-describedby={isOff ? 'provider-off' : undefined}
        onClick={start}
      >
        {busy ? 'Waiting for the login window…' : `Continue with ${name}`}
      </Button>
      {isOff ? (
        <p id="provider-off" className="text-center text-sm text-ink-2">
          Login with {name} is not set up on this server.
        </p>
      ) : null}
    </div>
  );
}

/** Why a third-party login failed, with the message for the user. */
const PROVIDER_PROBLEMS = {
  'popup-blocked': 'The browser blocked the login window. Allow pop-ups for this site and try again.',
  'popup-closed-by-user': 'The login window was closed before you had logged in.',
  'unauthorized-domain': 'This address is not allowed to log in with the provider. Open Creel at its own address.',
  'network-request-failed': 'The login provider could not be reached. Please check your connection and try again.',
  failed: 'Google sign-in failed',
} as const;

type ProviderProblem = keyof typeof PROVIDER_PROBLEMS;

function isProviderProblem(code: string): code is ProviderProblem {
  return Object.hasOwn(PROVIDER_PROBLEMS, code);
}

/** Logs in through the provider's window. `problem` is the error message, if the login failed. */
function useProviderSignIn(info: ServiceInfo | undefined, onSignedIn: () => void) {
  const login = useProviderLogin();
  const [waiting, setWaiting] = useState(false);
  const [problem, setProblem] = useState<string>();
  const stop = useRef<() => void>(undefined);
  useEffect(() => () => stop.current?.(), []);

  const fail = (sentence: string): void => {
    setWaiting(false);
    setProblem(sentence);
  };
  const onMessage = (message: ProviderMessage): void => {
    setWaiting(false);
    if (message.identity === undefined) return fail(problemMessage(message));
    login.mutate(completeIdentity(message.identity), {
      onSuccess: onSignedIn,
      onError: (error) => fail(failureMessage(error)),
    });
  };
  const start = (): void => {
    if (!info?.signIn) return;
    setProblem(undefined);
    stop.current?.();
    // The provider redirects to the public address. A page on another address would never receive its message.
    if (new URL(info.publicUrl).origin !== location.origin) return fail(PROVIDER_PROBLEMS['unauthorized-domain']);
    if (!navigator.onLine) return fail(PROVIDER_PROBLEMS['network-request-failed']);
    stop.current = openProviderPopup(info.signIn.startUrl, {
      onMessage,
      onClosed: () => fail(PROVIDER_PROBLEMS['popup-closed-by-user']),
    });
    if (stop.current === undefined) return fail(PROVIDER_PROBLEMS['popup-blocked']);
    setWaiting(true);
  };
  return { start, busy: waiting || login.isPending, problem };
}

function problemMessage({ problem, message }: ProviderMessage): string {
  if (message !== undefined) return message;
  return problem !== undefined && isProviderProblem(problem) ? PROVIDER_PROBLEMS[problem] : PROVIDER_PROBLEMS.failed;
}

function failureMessage(error: unknown): string {
  if (error instanceof ApiError && error.status === 0) return PROVIDER_PROBLEMS['network-request-failed'];
  return errorMessage(error, PROVIDER_PROBLEMS.failed);
}

type Identity = NonNullable<ProviderMessage['identity']>;

/** If there is no display name, the part of the email before the at sign is used. */
export function completeIdentity(identity: Identity): Identity {
  const fallback = identity.email?.split('@')[0];
  return { ...identity, displayName: identity.displayName || fallback || null };
}

const SIZE = { width: 500, height: 600 };
const LOOK_EVERY_MS = 500;
/** Milliseconds to wait for a message after the window was closed. */
const GIVE_UP_AFTER_MS = 8000;

interface Listener {
  readonly onMessage: (message: ProviderMessage) => void;
  readonly onClosed: () => void;
}

/**
 * Opens the provider's window and waits for its message. Returns a function that stops waiting, or `undefined` if the
 * browser blocked the window.
 */
function openProviderPopup(startUrl: string, listener: Listener): (() => void) | undefined {
  const left = Math.round(screenX + (outerWidth - SIZE.width) / 2);
  const top = Math.round(screenY + (outerHeight - SIZE.height) / 2);
  // Tells this login's messages on the channel from those of other tabs. It is no secret.
  const flow = crypto.getRandomValues(new Uint32Array(4)).join('_');
  const popup = open(
    `${startUrl}?${new URLSearchParams({ flow })}`,
    PROVIDER_CHANNEL,
    `popup,width=${SIZE.width},height=${SIZE.height},left=${left},top=${top}`,
  );
  if (popup === null) return undefined;
  popup.focus();

  const channel = new BroadcastChannel(PROVIDER_CHANNEL);
  const receive = (data: unknown): void => {
    const message = providerMessageSchema.safeParse(data);
    if (!message.success) return;
    stop();
    popup.close();
    listener.onMessage(message.data);
  };
  const onWindowMessage = (message: MessageEvent<unknown>): void => {
    if (message.origin === location.origin && message.source === popup) receive(message.data);
  };
  let giveUp: ReturnType<typeof setTimeout> | undefined;
  const look = setInterval(() => {
    if (!popup.closed) return;
    clearInterval(look);
    giveUp = setTimeout(() => {
      stop();
      listener.onClosed();
    }, GIVE_UP_AFTER_MS);
  }, LOOK_EVERY_MS);

  function stop(): void {
    clearInterval(look);
    clearTimeout(giveUp);
    removeEventListener('message', onWindowMessage);
    channel.close();
  }
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (providerMessageSchema.safeParse(data).data?.flow === flow) receive(data);
  };
  addEventListener('message', onWindowMessage);
  return stop;
}
