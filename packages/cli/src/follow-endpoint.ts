import {
  bodyBytesOf,
  contentCodingsOf,
  decodedBody,
  firstHeader,
  matcherOf,
  parseQuery,
  searchableRequest,
  needsBody,
} from '@creel/contract';
import type { CapturedRequest, Client, Endpoint } from '@creel/contract';
import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { CaptureFeed } from './capture-feed.ts';
import type { OnCapture } from './capture-feed.ts';
import { openSession } from './connection.ts';
import { findEndpoint } from './find-endpoint.ts';
import { watchLive } from './live-watch.ts';
import { noteLateMatches, noteUnknownFields } from './options.ts';
import { visible } from './output.ts';
import { storedBetween, readBody } from './stored-requests.ts';
import { write } from './terminal.ts';
import type { Terminal } from './terminal.ts';

/** What the user asked to follow. */
export interface FollowInput {
  readonly server?: string | undefined;
  /** A reference to an endpoint, or the name for a new one. */
  readonly endpoint: string | { readonly newName: string };
  /** Begin with stored requests from this index on: one for all followers, or one for each. By default with new captures. */
  readonly from?: readonly number[] | undefined;
  /** Only captures that match. */
  readonly query?: string | undefined;
}

/** What a follower needs. */
export interface FollowContext {
  readonly client: Client;
  readonly endpoint: Endpoint;
  readonly signal: AbortSignal;
  /** Aborts with `signal`, and also, with the reason, when no more captures can come. Then nothing is worth a further wait. */
  readonly ended: AbortSignal;
  /** Writes a sentence for the user to standard error. */
  readonly notify: (sentence: string) => Promise<void>;
}

/** What a command does with the captures, and its sentences for the user. */
export interface Followers {
  /** First sentence for the user, without its end: "Following <url>". */
  readonly begins: string;
  /** Start of the sentence about deleted captures: "Deleted before it could be shown". */
  readonly deleted: string;
  /** Receives a function that returns for each follower the index of the first capture that is still to be handled. */
  readonly onNext?: (next: () => number[]) => void;
  /** Each has its own connection and gets each capture once, in order, never two at the same time. */
  readonly followers: readonly OnCapture[];
}

/**
 * Calls each follower for each capture as it arrives, including those that arrived while the connection was lost. A slow follower does
 * not delay the others. Ctrl-C ends it without an error, whatever it waits for.
 * @throws CliError or ApiError when the endpoint or the session ends
 */
export async function followEndpoint(
  input: FollowInput,
  terminal: Terminal,
  createFollowers: (context: FollowContext) => Followers,
): Promise<void> {
  const signal = terminal.interrupted();
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([interrupted, follow(signal, input, terminal, createFollowers)]);
}

async function follow(
  signal: AbortSignal,
  input: FollowInput,
  terminal: Terminal,
  createFollowers: (context: FollowContext) => Followers,
): Promise<void> {
  const connection = await openSession(input.server, terminal);
  const { client } = connection;
  const endpoint =
    typeof input.endpoint === 'string'
      ? await findEndpoint(client, input.endpoint)
      : await client.call('createEndpoint', { body: { name: input.endpoint.newName } });
  const notify = (sentence: string): Promise<void> => write(terminal.stderr, `${visible(sentence)}\n`);
  // Read before the socket opens, so that nothing is missed however long the first connection takes.
  const { retention } = await client.call('getEndpoint', { params: { uid: endpoint.uid } });
  const newFrom = retention.newestIndex + 1;
  const ended = new AbortController();
  const context = { client, endpoint, signal, ended: AbortSignal.any([signal, ended.signal]), notify };
  const { begins, deleted, onNext, followers } = createFollowers(context);
  const isWanted = captureFilter(client, endpoint.uid, input.query);
  const createFeed = (onCapture: OnCapture, at: number): CaptureFeed =>
    new CaptureFeed({
      from: input.from?.[at] ?? input.from?.[0] ?? newFrom,
      newFrom,
      storedBetween: (from, below) => storedBetween(client, endpoint.uid, from, below),
      onCapture: async (request, handled) => {
        if (await isWanted(request)) await onCapture(request, handled);
      },
      onDeleted: (first, last) => notify(`${deleted}: ${rangeText(first, last)}.`),
    });
  await noteUnknownFields(input.query, terminal);
  if (input.from === undefined) await noteLateMatches(input.query, terminal);
  await notify(`${begins} (Ctrl-C ends it).`);
  const feeds = followers.map(createFeed);
  onNext?.(() => feeds.map(({ next }) => next));
  const watches = feeds.map((feed, at) =>
    watchLive({
      connection,
      endpoint,
      feed,
      signal,
      ended,
      // One follower reports for all that the connection is lost.
      notify: (sentence) => void (at === 0 ? notify(sentence).catch(() => {}) : undefined),
    }),
  );
  // What one of them is sending is not cut off by the end of another.
  await Promise.allSettled(watches);
  ended.signal.throwIfAborted();
}

/** For indexes that are both included. */
const rangeText = (first: number, last: number): string =>
  first === last ? `request ${first}` : `requests ${first} to ${last}`;

/** As in the server's searches. Unlike `DecompressionStream`, they take gzip of several members (RFC 1952, section 2.2). */
const CREATE_DECODER = {
  gzip: createGunzip,
  deflate: createInflate,
  'deflate-raw': createInflateRaw,
  br: createBrotliDecompress,
};

/** Returns a function that tests captures against a query. Without a query, all captures match. */
function captureFilter(
  client: Client,
  uid: string,
  text: string | undefined,
): (request: CapturedRequest) => Promise<boolean> {
  const parsed = parseQuery(text ?? '');
  if (text === undefined || !parsed.ok) return async () => true;
  const readsBody = needsBody(parsed.query);
  return async (request) => {
    const stored = readsBody ? await readBody(client, uid, request) : undefined;
    // If the request was deleted meanwhile, the message still has the beginning of its body.
    const codings = contentCodingsOf(firstHeader(request.rawHeaders, 'content-encoding'));
    const body =
      stored === undefined || codings.length === 0
        ? (stored ?? bodyBytesOf(request))
        : await decodedBody(stored, codings, (actual, bytes) => Readable.from([bytes]).pipe(CREATE_DECODER[actual]()));
    return matcherOf(parsed.query, Date.now())(searchableRequest(request, () => body));
  };
}
