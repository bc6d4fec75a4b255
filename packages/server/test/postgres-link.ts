import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A TCP link to a server that can be cut without notice to either side, and restored. */
export interface Link {
  /** The server's URL through the link. */
  readonly url: string;
  /** Blocks all data, on old connections and on new ones. */
  readonly cut: () => void;
  /** Lets new connections through; cut ones stay silent. */
  readonly mend: () => void;
  readonly close: () => Promise<void>;
}

export async function openLink(serverUrl: string): Promise<Link> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let whole = true;
  const server = createServer((near) => {
    sockets.add(near.on('error', () => undefined));
    if (!whole) return;
    const far = connect(Number(target.port), target.hostname).on('error', () => undefined);
    sockets.add(far);
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(serverUrl);
  // It listens on TCP, so its address is an AddressInfo.
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cut() {
      whole = false;
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend() {
      whole = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
