import type { CapturedRequest, Client, Endpoint } from '@creel/contract';
import { signedInConnection } from '../connection.ts';
import { findEndpoint } from '../find-endpoint.ts';
import { visible } from '../output.ts';
import { readPage, storedBetween } from '../stored-requests.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';
import { captureFilter } from './capture-filter.ts';
import { Feed } from './feed.ts';
import { watch } from './watch.ts';

/** Whom to follow, as it was typed. */
export interface Followed {
  readonly server?: string;
  readonly endpoint: string;
  /** Begins with what is stored from this index on. */
  readonly from?: number;
  /** Takes only captures that match. */
  readonly query?: string;
}

/** What a follower has to work with. */
export interface FollowTools {
  readonly client: Client;
  readonly endpoint: Endpoint;
  readonly signal: AbortSignal;
  /** Told what a person should know, in sentences. */
  readonly tell: (sentence: string) => Promise<void>;
}

export interface Follower {
  /** What is told at the beginning. */
  readonly begins: string;
  /** Done with each capture, one after the other, in their order, each once. */
  readonly take: (request: CapturedRequest) => Promise<void>;
  /** What could not be done with captures that are gone: "Deleted before it could be shown". */
  readonly gone: string;
}

/** Hands over each capture as it arrives, and what arrived while the connection was away. Ends well on Ctrl-C, whatever it waits for. */
export async function followEndpoint(
  followed: Followed,
  terminal: Terminal,
  begin: (tools: FollowTools) => Follower,
): Promise<void> {
  const signal = terminal.interrupted();
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([stopped, followUntil(signal, followed, terminal, begin)]);
}

async function followUntil(
  signal: AbortSignal,
  followed: Followed,
  terminal: Terminal,
  begin: (tools: FollowTools) => Follower,
): Promise<void> {
  const connection = await signedInConnection(followed.server, terminal);
  const { client } = connection;
  const endpoint = await findEndpoint(client, followed.endpoint);
  const tell = (sentence: string): Promise<void> => write(terminal.stderr, `${visible(sentence)}\n`);
  // Asked before the socket opens: from here on nothing is missed, however long the first connection takes.
  const newest = (await readPage(client, endpoint.uid, 1)).requests[0]?.index;
  const newFrom = newest === undefined ? undefined : newest + 1;
  const { begins, take, gone } = begin({ client, endpoint, signal, tell });
  const isWanted = captureFilter(client, endpoint.uid, followed.query);
  const feed = new Feed({
    from: followed.from ?? newFrom ?? 0,
    newFrom,
    storedBetween: (from, below) => storedBetween(client, endpoint.uid, from, below),
    show: async (request) => {
      if (await isWanted(request)) await take(request);
    },
    tellGone: (first, last) =>
      tell(`${gone}: ${first === last ? `request ${first}` : `requests ${first} to ${last}`}.`),
  });
  await tell(`${begins} (Ctrl-C ends it).`);
  await watch({ connection, endpoint, feed, signal, tell: (sentence) => void tell(sentence).catch(() => {}) });
}
