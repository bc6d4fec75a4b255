import type { InvocationOf } from '../args.ts';
import { signedInConnection } from '../connection.ts';
import { findEndpoint } from '../find-endpoint.ts';
import { Feed } from '../follow/feed.ts';
import { watch } from '../follow/watch.ts';
import { captureLine, jsonLine, visible } from '../output.ts';
import { readPage, storedBetween } from '../stored-requests.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Prints each capture as it arrives, and what arrived while the connection was away: by index, each once. Ends well on Ctrl-C. */
export async function follow(invocation: InvocationOf<'follow'>, terminal: Terminal): Promise<void> {
  const signal = terminal.interrupted();
  const connection = await signedInConnection(invocation.server, terminal);
  const { client } = connection;
  const endpoint = await findEndpoint(client, invocation.endpoint);
  const line = invocation.json ? jsonLine : captureLine;
  const tell = (sentence: string): Promise<void> => write(terminal.stderr, `${visible(sentence)}\n`);
  // Asked before the socket opens: from here on nothing is missed, however long the first connection takes.
  const newest = (await readPage(client, endpoint.uid, 1)).requests[0]?.index;
  const newFrom = newest === undefined ? undefined : newest + 1;
  const feed = new Feed({
    from: invocation.from ?? newFrom ?? 0,
    newFrom,
    storedBetween: (from, below) => storedBetween(client, endpoint.uid, from, below),
    show: (request) => write(terminal.stdout, line(request)),
    tellGone: (first, last) =>
      tell(
        `Deleted before it could be shown: ${first === last ? `request ${first}` : `requests ${first} to ${last}`}.`,
      ),
  });
  await tell(`Following ${endpoint.url} (Ctrl-C ends it).`);
  await watch({ connection, endpoint, feed, signal, tell: (sentence) => void tell(sentence).catch(() => {}) });
}
