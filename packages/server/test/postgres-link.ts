import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A TCP link in front of a server that can be cut without either side being told, and mended. */
export interface Link {
  /** The server's URL, by way of the link. */
  readonly url: string;
  /** From now on nothing gets through, on old connections and on new ones. */
  readonly cut: () => void;
  /** New connections get through again; those that were cut stay silent. */
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
  // Listening on TCP, so its address is an AddressInfo and not the path of a pipe.
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
