import { PROVIDER_CHANNEL, providerMessageSchema } from '@creel/contract';
import type { ProviderMessage } from '@creel/contract';

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
export function openProviderPopup(startUrl: string, listener: Listener): (() => void) | undefined {
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
