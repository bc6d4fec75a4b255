import { z } from 'zod';
import { capturedRequestSchema } from './captured-request.ts';
import { deliverySummarySchema } from './delivery.ts';
import { endpointDetailSchema } from './endpoint.ts';
import { LIVE_CLOSE_ENDPOINT_GONE, LIVE_CLOSE_SIGNED_OUT, LIVE_RECONNECT_MS } from './limits.ts';

/** An attempt to send the request with this index was made or is planned. The rest is the request's state after it. */
const liveDeliverySchema = z.object({
  index: z.int(),
  delivery: deliverySummarySchema,
  ...capturedRequestSchema.pick({ lastDelivery: true, deliveryPending: true }).shape,
});
export type LiveDelivery = z.infer<typeof liveDeliverySchema>;

/** Every message of the live socket: docs/api.md, "Live". Only the server sends messages. */
export const liveMessageSchema = z.discriminatedUnion('type', [
  /** The newest requests, saved and unsaved, newest first. Replaces everything the client has. */
  z.object({ type: z.literal('init'), data: z.array(capturedRequestSchema) }),
  z.object({ type: z.literal('request'), data: capturedRequestSchema }),
  z.object({ type: z.literal('saved'), data: z.object({ oldId: z.int(), request: capturedRequestSchema }) }),
  z.object({ type: z.literal('deleted'), data: z.object({ id: z.int() }) }),
  z.object({ type: z.literal('clear'), data: z.object({}) }),
  z.object({ type: z.literal('delivery'), data: liveDeliverySchema }),
  z.object({ type: z.literal('endpoint'), data: endpointDetailSchema }),
]);
export type LiveMessage = z.infer<typeof liveMessageSchema>;

/** Known message types. A client ignores all others, because a newer server may send more. */
const LIVE_MESSAGE_TYPES: ReadonlySet<string> = new Set(liveMessageSchema.options.map(({ shape }) => shape.type.value));

/**
 * `connected` starts with the first message, which is the `init` with the stored requests. `ended` is final: the session or the
 * endpoint no longer exists, so the client does not reconnect.
 */
export type LiveState = 'connecting' | 'connected' | 'disconnected' | 'ended';

/** The parts of a WebSocket that browsers and the `ws` package have in common. */
export interface LiveSocket {
  onopen: ((opened: never) => void) | null;
  onmessage: ((frame: never) => void) | null;
  onerror: ((failed: never) => void) | null;
  onclose: ((closed: never) => void) | null;
  close(): void;
}

export interface LiveOptions {
  /** `ws:` or `wss:` URL of `/ws?endpoint={uid}`. */
  readonly url: string;
  readonly onMessage: (message: LiveMessage) => void;
  readonly onState?: (state: LiveState, closeCode?: number) => void;
  /** Called for each message that does not match the schema. The message is dropped. */
  readonly onInvalidMessage?: (reason: string) => void;
  readonly reconnectMs?: number;
  /** Watches for an outage that the socket does not notice. Calls back at its start, and returns a function that stops it. */
  readonly watchOutage?: (onOutage: () => void) => () => void;
  /** For programs that send cookies themselves. By default the built-in WebSocket. */
  readonly openSocket?: (url: string) => LiveSocket;
}

/** A proxy that does not know web sockets may never answer. Browsers give up after minutes. */
const MAX_OPENING_MS = 15_000;

const typedSchema = z.object({ type: z.string() });
const FINAL_CODES: ReadonlySet<number> = new Set([LIVE_CLOSE_SIGNED_OUT, LIVE_CLOSE_ENDPOINT_GONE]);

/**
 * Opens a live view, which reconnects 3 s after a lost connection. The server starts every connection with a new `init`, so the client
 * keeps no state. Returns a function that stops it.
 */
export function listenLive(options: LiveOptions): () => void {
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let socket: LiveSocket | undefined;
  const report = (state: LiveState, closeCode?: number): void => {
    if (!stopped) options.onState?.(state, closeCode);
  };

  function open(): void {
    report('connecting');
    // The callback may have stopped the client.
    if (stopped) return;
    const current = options.openSocket?.(options.url) ?? new WebSocket(options.url);
    let isConnected = false;
    socket = current;
    timer = setTimeout(giveUp, MAX_OPENING_MS);
    current.onopen = () => clearTimeout(timer);
    current.onmessage = (frame: { data: unknown }) => {
      if (!isConnected) report('connected');
      isConnected = true;
      receive(frame.data, options);
    };
    current.onerror = () => current.close();
    current.onclose = (closing: { code: number }) => lose(closing.code);
  }

  function lose(closeCode?: number): void {
    socket = undefined;
    clearTimeout(timer);
    if (closeCode !== undefined && FINAL_CODES.has(closeCode)) return report('ended', closeCode);
    timer = setTimeout(open, options.reconnectMs ?? LIVE_RECONNECT_MS);
    report('disconnected', closeCode);
  }

  function giveUp(): void {
    if (socket === undefined) return;
    abandon(socket);
    lose();
  }

  const stopWatching = options.watchOutage?.(giveUp);
  open();
  return () => {
    stopped = true;
    stopWatching?.();
    clearTimeout(timer);
    if (socket !== undefined) abandon(socket);
  };
}

/** Closes a socket whose messages and end no longer matter. While it closes, which can take seconds, it still delivers them. */
function abandon(socket: LiveSocket): void {
  socket.onopen = null;
  socket.onmessage = null;
  socket.onclose = null;
  socket.close();
}

function receive(frame: unknown, options: LiveOptions): void {
  try {
    const value: unknown = JSON.parse(String(frame));
    const type = typedSchema.safeParse(value).data?.type;
    if (type !== undefined && !LIVE_MESSAGE_TYPES.has(type)) return;
    const message = liveMessageSchema.safeParse(value);
    if (message.success) options.onMessage(message.data);
    else options.onInvalidMessage?.(message.error.message);
  } catch (error) {
    options.onInvalidMessage?.(String(error));
  }
}
