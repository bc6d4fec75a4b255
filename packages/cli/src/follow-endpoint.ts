import type { CapturedRequest, Client, Endpoint } from '@creel/contract';
import { CaptureFeed } from './capture-feed.ts';
import { captureFilter } from './capture-filter.ts';
import { openSession } from './connection.ts';
import { findEndpoint } from './find-endpoint.ts';
import { watchLive } from './live-watch.ts';
import { visible } from './output.ts';
import { readPage, storedBetween } from './stored-requests.ts';
import { write } from './terminal.ts';
import type { Terminal } from './terminal.ts';

export interface FollowInput {
  readonly server?: string | undefined;
  readonly endpoint: string;
  /** Begin with stored requests from this index on. By default, only with new captures. */
  readonly from?: number | undefined;
  /** Only captures that match. */
  readonly query?: string | undefined;
}

export interface FollowContext {
  readonly client: Client;
  readonly endpoint: Endpoint;
  readonly signal: AbortSignal;
  /** Writes a sentence for the user to standard error. */
  readonly notify: (sentence: string) => Promise<void>;
}

export interface Follower {
  /** First sentence for the user, without its end: "Following <url>". */
  readonly begins: string;
  /** Called once for each capture, in order, never twice at the same time. */
  readonly onCapture: (request: CapturedRequest) => Promise<void>;
  /** Start of the sentence about deleted captures: "Deleted before it could be shown". */
  readonly deleted: string;
}

/**
 * Calls a follower for each capture as it arrives, including those that arrived while the connection was lost. Ctrl-C ends it without an
 * error, whatever it waits for. @throws CliError or ApiError when the endpoint or the session ends
 */
export async function followEndpoint(
  input: FollowInput,
  terminal: Terminal,
  createFollower: (context: FollowContext) => Follower,
): Promise<void> {
  const signal = terminal.interrupted();
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([interrupted, follow(signal, input, terminal, createFollower)]);
}

async function follow(
  signal: AbortSignal,
  input: FollowInput,
  terminal: Terminal,
  createFollower: (context: FollowContext) => Follower,
): Promise<void> {
  const connection = await openSession(input.server, terminal);
  const { client } = connection;
  const endpoint = await findEndpoint(client, input.endpoint);
  const notify = (sentence: string): Promise<void> => write(terminal.stderr, `${visible(sentence)}\n`);
  // Read before the socket opens, so that nothing is missed however long the first connection takes.
  const newest = (await readPage(client, endpoint.uid, 1)).requests[0]?.index;
  const newFrom = newest === undefined ? undefined : newest + 1;
  const { begins, onCapture, deleted } = createFollower({ client, endpoint, signal, notify });
  const isWanted = captureFilter(client, endpoint.uid, input.query);
  const feed = new CaptureFeed({
    from: input.from ?? newFrom ?? 0,
    newFrom,
    storedBetween: (from, below) => storedBetween(client, endpoint.uid, from, below),
    onCapture: async (request) => {
      if (await isWanted(request)) await onCapture(request);
    },
    onDeleted: (first, last) =>
      notify(`${deleted}: ${first === last ? `request ${first}` : `requests ${first} to ${last}`}.`),
  });
  await notify(`${begins} (Ctrl-C ends it).`);
  await watchLive({
    connection,
    endpoint,
    feed,
    signal,
    notify: (sentence) => void notify(sentence).catch(() => {}),
  });
}
