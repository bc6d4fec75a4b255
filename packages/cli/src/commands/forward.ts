import { targetOf } from '@creel/contract';
import type { CapturedRequest, Client } from '@creel/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineCommand } from '../command.ts';
import { followEndpoint } from '../follow-endpoint.ts';
import { endpointArgument, flag, fromOption, queryOption, serverOption } from '../options.ts';
import { captureLine, jsonLine } from '../output.ts';
import { parseDestination, sendCapture } from '../send-capture.ts';
import type { SendResult } from '../send-capture.ts';
import { readBody } from '../stored-requests.ts';
import { write } from '../terminal.ts';

export const command = defineCommand({
  name: 'forward',
  summary: 'send each capture on from this machine, byte for byte, until Ctrl-C',
  details: `The part after the capture URL is appended to <url>: a capture at …/h/UID/a?b=1 goes to <url>/a?b=1.
Captures are sent one at a time and in order. While <url> can't be reached they wait on the server, and none is lost.
A capture that was sent is not sent twice, whatever the response. Redirects are not followed.`,
  arguments: z.object({ endpoint: endpointArgument, url: z.string() }),
  options: z.object({
    from: fromOption,
    query: queryOption,
    json: flag('print one JSON object per line: index, method, target and result'),
    server: serverOption,
  }),
  async run(input, terminal) {
    const destination = parseDestination(input.url);
    await followEndpoint(input, terminal, ({ client, endpoint, signal, notify }) => {
      const print = (line: string): Promise<void> => write(terminal.stdout, line);
      const context = { client, uid: endpoint.uid, destination, json: input.json, signal, print, notify };
      return {
        begins: `Forwarding ${endpoint.url} to ${destination.href}`,
        onCapture: (request) => forwardCapture(request, context),
        deleted: 'Deleted before it could be forwarded',
      };
    });
  },
});

interface ForwardContext {
  readonly client: Client;
  readonly uid: string;
  readonly destination: URL;
  readonly json: boolean;
  readonly signal: AbortSignal;
  /** Writes a line to standard output. */
  readonly print: (line: string) => Promise<void>;
  /** Writes a sentence for the user to standard error. */
  readonly notify: (sentence: string) => Promise<void>;
}

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 5000;

async function forwardCapture(request: CapturedRequest, context: ForwardContext): Promise<void> {
  const { client, uid, print, json, notify, signal } = context;
  const body = await readBody(client, uid, request);
  if (body === undefined) return notify(`Deleted before it could be forwarded: request ${request.index}.`);
  const result = await sendUntilReached(request, body, context);
  if (!signal.aborted || result.kind === 'answered') await print(resultLine(request, result, json));
}

/** Retries while the destination can't be reached, for example during a restart. Doubles the delay up to a limit. */
async function sendUntilReached(
  request: CapturedRequest,
  body: Uint8Array,
  { destination, notify, signal }: ForwardContext,
): Promise<SendResult> {
  let delayMs = FIRST_RETRY_MS;
  for (let isFirst = true; ; isFirst = false) {
    const result = await sendCapture(destination, request, body, signal);
    if (result.kind !== 'unreached' || signal.aborted) {
      if (!isFirst && !signal.aborted) await notify(`${destination.href} is reached again.`);
      return result;
    }
    if (isFirst) await notify(`${destination.href} can't be reached (${result.reason}). Trying again.`);
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    delayMs = Math.min(delayMs * 2, MAX_RETRY_MS);
  }
}

function resultLine(request: CapturedRequest, result: SendResult, json: boolean): string {
  const { index, method } = request;
  if (json) {
    const { kind, ...rest } = result;
    return jsonLine({ index, method, target: targetOf(request), outcome: kind, ...rest });
  }
  const text = result.kind === 'answered' ? `${result.status}  ${Math.round(result.durationMs)} ms` : result.reason;
  return `${captureLine(request).trimEnd()}  → ${text}\n`;
}
