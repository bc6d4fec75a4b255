import { LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT, LIVE_RECONNECT_MS } from './limits.ts';
import { LIVE_MESSAGE_TYPES, liveMessageSchema } from './live.ts';
import type { LiveMessage } from './live.ts';

/**
 * `connected` once the first frame is there, which says what is stored (contract 5): what arrives from then on is seen to arrive.
 * `ended` is final: the session or the endpoint is gone, and reconnecting would not help.
 */
export type LiveState = 'connecting' | 'connected' | 'disconnected' | 'ended';

/** What is used of a web socket: the browser's own has it, and that of `ws`. */
export interface LiveSocket {
  onmessage: ((frame: never) => void) | null;
  onerror: ((failed: never) => void) | null;
  onclose: ((closed: never) => void) | null;
  close(): void;
}

export interface LiveOptions {
  /** `ws:` or `wss:` address of `/ws?endpoint={uid}`. */
  readonly url: string;
  readonly onMessage: (message: LiveMessage) => void;
  readonly onState?: (state: LiveState, closeCode?: number) => void;
  /** A frame that does not fit the contract: dropped, counted by the caller, never fatal. */
  readonly onBadFrame?: (reason: string) => void;
  readonly reconnectMs?: number;
  /** For programs that send a cookie themselves; browsers use the built-in one. */
  readonly openSocket?: (url: string) => LiveSocket;
}

const FINAL_CODES: ReadonlySet<number> = new Set([LIVE_CLOSE_SIGNED_OUT, LIVE_CLOSE_ENDPOINT_GONE]);

/**
 * A live view that reconnects 3 s after a loss (spec 4). The server heals every gap with a new `init` (contract 5), so nothing is
 * kept here. Returns its unsubscribe.
 */
export function listenLive(options: LiveOptions): () => void {
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let socket: LiveSocket | undefined;
  const tell = (state: LiveState, closeCode?: number): void => {
    if (!stopped) options.onState?.(state, closeCode);
  };

  function open(): void {
    tell('connecting');
    // Whoever is told may have had enough.
    if (stopped) return;
    const current = options.openSocket?.(options.url) ?? new WebSocket(options.url);
    let stands = false;
    socket = current;
    current.onmessage = (frame: { data: unknown }) => {
      // A closing socket may still bring what was on its way.
      if (stopped) return;
      if (!stands) tell('connected');
      stands = true;
      receive(frame.data, options);
    };
    current.onerror = () => current.close();
    current.onclose = (closing: { code: number }) => {
      if (stopped) return;
      if (FINAL_CODES.has(closing.code)) return tell('ended', closing.code);
      timer = setTimeout(open, options.reconnectMs ?? LIVE_RECONNECT_MS);
      tell('disconnected', closing.code);
    };
  }

  open();
  return () => {
    stopped = true;
    clearTimeout(timer);
    socket?.close();
  };
}

function receive(frame: unknown, options: LiveOptions): void {
  try {
    const value: unknown = JSON.parse(String(frame));
    if (isUnknownType(value)) return;
    const message = liveMessageSchema.safeParse(value);
    if (message.success) options.onMessage(message.data);
    else options.onBadFrame?.(message.error.message);
  } catch (error) {
    options.onBadFrame?.(String(error));
  }
}

function isUnknownType(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    typeof value.type === 'string' &&
    !LIVE_MESSAGE_TYPES.has(value.type)
  );
}
