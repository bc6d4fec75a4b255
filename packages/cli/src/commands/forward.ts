import { ApiError, isDelivered, targetOf, textOfBeginning } from '@creel/contract';
import type { CapturedRequest, Client } from '@creel/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { CliError, UsageError, isSignedOut } from '../cli-error.ts';
import { defineCommand, optionHelp } from '../command.ts';
import { DeliveryReports } from '../delivery-reports.ts';
import { uidOfUrl } from '../find-endpoint.ts';
import { followEndpoint } from '../follow-endpoint.ts';
import { loopOf, markedHeaders } from '../forwarding-loop.ts';
import { endpointArgument, flag, queryOption, serverOption, wholeNumber } from '../options.ts';
import { deliveryLine, jsonLine, visibleText } from '../output.ts';
import { destinationPath, parseDestination, sendCapture } from '../send-capture.ts';
import type { SendResult } from '../send-capture.ts';
import { readBody } from '../stored-requests.ts';
import { colored, write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Maximum time at the end for reports that are still to be sent. */
const FLUSH_MS = 1000;

const fromOption = z
  .string()
  .regex(/^\d{1,15}(?:,\d{1,15})*$/, 'must be a whole number from 0 up, or one for each url, such as 12,15.')
  .transform((text) => text.split(',').map(Number))
  .optional()
  .register(optionHelp, {
    value: 'INDEX',
    help: 'begin with the stored requests from this index on; 12,15 has one index for each url',
  });

const retryOption = wholeNumber(0).default(0).register(optionHelp, {
  value: 'N',
  help: 'send a capture up to N times again, if the response is not 2xx or there is none',
});

export const command = defineCommand({
  name: 'forward',
  summary: 'forward each capture from this machine, byte for byte, until Ctrl-C',
  details: `The part after the capture URL is appended to <url>: a capture at …/h/UID/a?b=1 goes to <url>/a?b=1.
With several URLs, each capture is sent to each of them. A slow one does not delay the others.
Captures are sent one at a time and in order. While <url> can't be reached they wait on the server, which keeps
the newest 1,000 by default, and 10,000 with autosave.
If <url> is a capture URL itself, requests get the header Creel-Via, which stops loops. To any other URL, nothing is added.
Without --retry, a capture that was sent is not sent twice, whatever the response. Redirects are not followed.
After Ctrl-C during a send, the capture to continue with is that one, because its response is not known: <url> may get it again.
Each result is reported to the server, so that its pages show it. While the server can't be reached, up to 1,000 results wait.
Without an endpoint: creel forward --new <url>...`,
  arguments: z.object({ endpoint: endpointArgument.optional(), url: z.array(z.string()) }),
  options: z.object({
    new: flag('create an endpoint and print its capture URL'),
    from: fromOption,
    query: queryOption,
    retry: retryOption,
    json: flag('print one JSON object per line: index, method, target and result'),
    server: serverOption,
  }),
  async run(input, terminal) {
    const { endpoint, destinations } = endpointAndDestinations(input);
    let reports: DeliveryReports | undefined;
    let next: (() => number[]) | undefined;
    await followEndpoint({ ...input, endpoint }, terminal, ({ endpoint: { uid, url }, ...given }) => {
      const own = destinations.find(({ href }) => uidOfUrl(href) === uid);
      if (own !== undefined)
        throw new UsageError(`${own.href} is the endpoint itself: each capture would be captured again without end.`);
      const ownReports = (reports = new DeliveryReports({ ...given, uid }));
      const context = { ...input, ...given, uid, terminal, reports: ownReports };
      const isOnly = destinations.length === 1;
      return {
        begins: `Forwarding ${url} to ${destinations.map(({ href }) => href).join(' and ')}`,
        deleted: 'Deleted before it could be forwarded',
        onNext: (indexes) => (next = indexes),
        followers: destinations.map(
          (destination) => (request, handled) => forwardCapture(request, { ...context, destination, isOnly, handled }),
        ),
      };
    })
      .catch((error: unknown) => {
        if (hasEndpointEnded(error)) next = undefined;
        throw error;
      })
      .finally(async () => {
        await reports?.flush(FLUSH_MS).catch(() => {});
        // After SIGHUP there is no terminal.
        if (next !== undefined)
          await write(terminal.stderr, `To continue with the next capture: --from ${fromText(next())}\n`).catch(
            () => {},
          );
      });
  },
});

interface ForwardInput {
  /** The first URL if a new endpoint is created. */
  readonly endpoint?: string | undefined;
  readonly url: readonly string[];
  readonly new: boolean;
  readonly from?: readonly number[] | undefined;
}

/** The endpoint to forward from, and where to. @throws UsageError */
function endpointAndDestinations({ endpoint, url, new: isNew, from }: ForwardInput) {
  if (endpoint === undefined)
    throw new UsageError(
      isNew ? 'Name the url: creel forward --new <url>...' : 'Name the endpoint: creel forward <endpoint> <url>...',
    );
  const urls = isNew ? [endpoint, ...url] : url;
  if (urls.length === 0) throw new UsageError('Name the url: creel forward <endpoint> <url>...');
  const destinations = urls.map((each) => parseDestination(each));
  const twice = destinations.find(({ href }, at) => destinations.slice(0, at).some((other) => other.href === href));
  if (from !== undefined && ![1, urls.length].includes(from.length))
    throw new UsageError(`--from has ${from.length} indexes. Give one for all urls, or one for each: ${urls.length}.`);
  if (twice !== undefined) throw new UsageError(`${twice.href} is given twice. Give each url once.`);
  const hosts = destinations.map(({ host }) => host).join(', ');
  return { endpoint: isNew ? { newName: `forward to ${hosts}`.slice(0, 100) } : endpoint, destinations };
}

/** The value of `--from` for these indexes. */
function fromText(indexes: readonly number[]): string {
  return new Set(indexes).size === 1 ? String(indexes[0]) : indexes.join(',');
}

/** True if the endpoint was deleted or has expired, so that there is nothing to continue with. */
function hasEndpointEnded(error: unknown): boolean {
  if (error instanceof ApiError) return error.code === 'ENDPOINT_NOT_FOUND';
  return error instanceof CliError && !isSignedOut(error);
}

interface ForwardContext {
  readonly client: Client;
  readonly uid: string;
  readonly destination: URL;
  /** Whether there is one destination, so that no line has to name it. */
  readonly isOnly: boolean;
  /** Marks the capture as sent, although its result is not printed yet: standard output may be a closed pipe or a full disk. */
  readonly handled: () => void;
  readonly json: boolean;
  /** Number of further attempts after a failed one. */
  readonly retry: number;
  readonly signal: AbortSignal;
  /** Aborts when a further attempt is not worth the wait. */
  readonly ended: AbortSignal;
  readonly terminal: Terminal;
  readonly reports: DeliveryReports;
  /** Writes a sentence for the user to standard error. */
  readonly notify: (sentence: string) => Promise<void>;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 5000;

/** Rejects when `signal` or `ended` aborts, so that the capture does not count as sent. */
async function forwardCapture(request: CapturedRequest, context: ForwardContext): Promise<void> {
  const { client, uid, notify, signal, ended, destination, retry, reports } = context;
  await reports.keepUp();
  const body = await readBody(client, uid, request);
  if (body === undefined) return notify(`Deleted before it could be forwarded: request ${request.index}.`);
  const url = destination.origin + destinationPath(destination, targetOf(request));
  const isEndpoint = uidOfUrl(destination.href) !== undefined;
  const loop = isEndpoint ? loopOf(request.rawHeaders, uid) : undefined;
  if (loop !== undefined) {
    const result = { kind: 'unreached', reason: loop, durationMs: 0 } as const;
    reports.add({ request, url, number: 1, startedAt: Date.now(), result });
    return printResult(request, result, context);
  }
  const sent = isEndpoint ? { ...request, rawHeaders: markedHeaders(request.rawHeaders, uid) } : request;
  let failures = 0;
  let wasUnreached = false;
  for (let number = 1; ; number += 1) {
    const startedAt = Date.now();
    const stopListening = notifyAtEnd(context, `Waiting for ${destination.href} to answer request ${request.index}.`);
    const result = await sendCapture(sent, { destination, body, signal });
    stopListening();
    if (result.kind !== 'answered') signal.throwIfAborted();
    const isUnreached = result.kind === 'unreached';
    // While the destination can't be reached, only the first attempt is reported.
    if (!isUnreached || !wasUnreached) reports.add({ request, url, number, startedAt, result });
    if (isUnreached && !wasUnreached)
      await notify(`${destination.href} can't be reached (${result.reason}). Trying again.`);
    if (!isUnreached) {
      if (wasUnreached) await notify(`${destination.href} is reached again.`);
      const isLast = (result.kind === 'answered' && isDelivered(result.status)) || failures >= retry;
      if (isLast) context.handled();
      await printResult(request, result, context);
      if (isLast) return;
      failures += 1;
    }
    wasUnreached = isUnreached;
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (number - 1), MAX_DELAY_MS);
    await sleep(delayMs, undefined, { signal: ended }).catch(() => undefined);
    ended.throwIfAborted();
  }
}

/**
 * Says what delays the end when no more captures can come, because what is being sent is not cut off. Returns a function that stops
 * listening.
 */
function notifyAtEnd({ ended, signal, notify }: ForwardContext, sentence: string): () => void {
  const note = (): void => {
    if (!signal.aborted) void notify(`No more captures can come. ${sentence}`).catch(() => undefined);
  };
  ended.addEventListener('abort', note, { once: true });
  return () => ended.removeEventListener('abort', note);
}

/** Prints one line, and for a failure the first lines of the response on standard error. */
async function printResult(
  request: CapturedRequest,
  result: SendResult,
  { destination, isOnly, json, terminal }: ForwardContext,
): Promise<void> {
  const { index, method } = request;
  if (json) {
    const { kind } = result;
    const durationMs = Math.round(result.durationMs);
    const outcome =
      kind === 'answered' ? { status: result.status, ...(result.isCut && { isCut: true }) } : { reason: result.reason };
    const base = { index, method, target: targetOf(request), destination: destination.href, outcome: kind };
    return write(terminal.stdout, jsonLine({ ...base, ...outcome, durationMs }));
  }
  const status = result.kind === 'answered' ? `${result.status}${result.isCut ? ' (cut off)' : ''}` : result.reason;
  const color = result.kind === 'answered' && isDelivered(result.status) ? 'green' : 'red';
  const to = isOnly ? undefined : destination.href;
  const paint = (text: string): string => colored(terminal, color, text);
  await write(terminal.stdout, deliveryLine(request, to, status, result.durationMs, paint));
  if (result.kind === 'answered' && result.status >= 400) await write(terminal.stderr, firstLines(result.beginning));
}

const MAX_SHOWN_LINES = 5;
const MAX_SHOWN_CHARACTERS = 500;

/** The first lines of a response, indented and escaped for a terminal. Empty if it is not text. */
function firstLines(beginning: Uint8Array): string {
  const text = textOfBeginning(beginning)?.slice(0, MAX_SHOWN_CHARACTERS).replaceAll('\r\n', '\n').trim() ?? '';
  if (text === '') return '';
  const lines = text.split('\n').slice(0, MAX_SHOWN_LINES);
  return lines.map((line) => `  | ${visibleText(line)}\n`).join('');
}
