import { WebSocket } from 'ws';

/** A live socket as a browser would have it. */
export interface LiveView {
  /** Resolves with the first message. */
  readonly opened: Promise<void>;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  readonly close: () => void;
}

/** Opens `/ws?endpoint={uid}` with a cookie. */
export function openLiveView(origin: string, uid: string, cookie: string): LiveView {
  const socket = new WebSocket(`${origin.replace(/^http/, 'ws')}/ws?endpoint=${uid}`, { headers: { cookie } });
  return {
    opened: new Promise((resolve, reject) => {
      socket.once('message', () => resolve());
      socket.once('error', reject);
    }),
    closed: new Promise((resolve) => socket.once('close', resolve)),
    close: () => socket.terminate(),
  };
}
