import { WebSocket } from 'ws';

/** A live connection like a browser's. */
export interface LiveView {
  /** Resolves with the first message. */
  readonly opened: Promise<void>;
  /** The next message after the first, as text. */
  readonly next: () => Promise<string>;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  /** The close code if it closes within seconds, long before the server's next check of sessions. */
  readonly closedSoon: () => Promise<number | 'open'>;
  readonly close: () => void;
}

const SOON_MS = 8000;

/** Opens `/ws?endpoint={uid}` with a cookie. */
export function openLiveView(origin: string, uid: string, cookie: string): LiveView {
  const socket = new WebSocket(`${origin.replace(/^http/, 'ws')}/ws?endpoint=${uid}`, { headers: { cookie } });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const frames: string[] = [];
  socket.on('message', (data: Buffer) => frames.push(data.toString('utf8')));
  let taken = 0;
  return {
    opened: new Promise((resolve, reject) => {
      socket.once('message', () => resolve());
      socket.once('error', reject);
    }),
    async next() {
      taken += 1;
      while (frames.length <= taken) await new Promise((resolve) => socket.once('message', resolve));
      return frames[taken] ?? '';
    },
    closed,
    closedSoon: () => Promise.race([closed, new Promise<'open'>((resolve) => setTimeout(resolve, SOON_MS, 'open'))]),
    close: () => socket.terminate(),
  };
}
