import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { listenLocally } from '../../../fixtures/listen-locally.ts';

/** A TCP link to a server that can be cut without notice to either side, and restored. */
export type Link = Awaited<ReturnType<typeof openLink>>;

/** Opens a link to the PostgreSQL server of this URL. */
export async function openLink(serverUrl: string) {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const answers: { near: Socket; far: Socket }[] = [];
  let state: 'whole' | 'cut' | 'refusing' = 'whole';
  const server = createServer({ noDelay: true }, (near) => {
    if (state === 'refusing') return near.destroy();
    sockets.add(near.on('error', () => undefined));
    if (state === 'cut') return;
    const far = connect({ port: Number(target.port), host: target.hostname, noDelay: true }).on(
      'error',
      () => undefined,
    );
    sockets.add(far);
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    answers.push({ near, far });
  });
  const url = new URL(serverUrl);
  url.port = String(await listenLocally(server));
  return {
    /** The server's URL through the link. */
    url: url.href,
    /** Blocks all data, on old connections and on new ones. */
    cut(): void {
      state = 'cut';
      for (const socket of sockets) socket.unpipe().pause();
    },
    /** Lets statements through, and no answers. */
    mute(): void {
      for (const { near, far } of answers) far.unpipe(near).resume();
    },
    /** Ends all connections and refuses new ones. */
    refuse(): void {
      state = 'refusing';
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    /** Lets new connections through; cut ones stay silent. */
    mend(): void {
      state = 'whole';
    },
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
