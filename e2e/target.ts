// Where replays go: a server of the test's own that keeps what reached it, as it stood on the wire.
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { test as base } from './app.ts';

/** A request as it reached the target. */
export interface Received {
  readonly method: string;
  readonly url: string;
  /** Names and values in their order, a character for each byte. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

export interface TargetServer {
  /** Without a slash at the end. */
  readonly url: string;
  /** What reached it, the last one last. */
  readonly received: readonly Received[];
  /** What it answers from now on. */
  readonly answerWith: (answer: (response: ServerResponse) => void) => void;
  readonly close: () => Promise<void>;
}

async function startTarget(): Promise<TargetServer> {
  const received: Received[] = [];
  let answer = (response: ServerResponse): void => void response.end('ok');
  const server = createServer((incoming, response) => {
    const pieces: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    incoming.on('end', () => {
      const { method = '', url = '', rawHeaders } = incoming;
      const headers = Array.from(
        { length: rawHeaders.length / 2 },
        (_, at) => [rawHeaders[2 * at] ?? '', rawHeaders[2 * at + 1] ?? ''] as const,
      );
      received.push({ method, url, headers, body: Buffer.concat(pieces) });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    received,
    answerWith: (wanted) => {
      answer = wanted;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The journeys' `test` with a target of its own. */
export const test = base.extend<{ target: TargetServer }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads from the pattern what a fixture needs
  target: async ({}, use) => {
    const target = await startTarget();
    await use(target);
    await target.close();
  },
});
