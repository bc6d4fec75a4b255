import { targetOf } from '@creel/contract';
import type { CapturedRequest, Client } from '@creel/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { captureLine, jsonLine } from '../output.ts';
import { readBody } from '../stored-requests.ts';
import { sendOn } from './send-on.ts';
import type { Outcome } from './send-on.ts';

export interface DeliverOptions {
  readonly client: Client;
  readonly uid: string;
  readonly destination: URL;
  readonly json: boolean;
  readonly signal: AbortSignal;
  /** Where lines about captures go. */
  readonly print: (line: string) => Promise<void>;
  /** Told what a person should know, in sentences. */
  readonly tell: (sentence: string) => Promise<void>;
}

/** Milliseconds before a destination that could not be reached is tried again: first, twice as long each time, and at most. */
const FIRST_WAIT_MS = 500;
const MOST_WAIT_MS = 5000;

/**
 * Sends captures on, one after the other, in their order. While the destination can't be reached, because somebody restarts it, a capture
 * waits and the others behind it; one that was sent is not sent twice, whatever became of it.
 */
export class Deliverer {
  readonly #options: DeliverOptions;

  constructor(options: DeliverOptions) {
    this.#options = options;
  }

  readonly deliver = async (request: CapturedRequest): Promise<void> => {
    const { client, uid, print, json, tell, signal } = this.#options;
    const body = await readBody(client, uid, request);
    if (body === undefined) return tell(`Deleted before it could be forwarded: request ${request.index}.`);
    const outcome = await this.#untilReached(request, body);
    if (!signal.aborted || outcome.kind === 'answered') await print(lineOf(request, outcome, json));
  };

  async #untilReached(request: CapturedRequest, body: Uint8Array): Promise<Outcome> {
    const { destination, tell, signal } = this.#options;
    let waitMs = FIRST_WAIT_MS;
    for (let isFirst = true; ; isFirst = false) {
      const outcome = await sendOn(destination, request, body, signal);
      if (outcome.kind !== 'unreached' || signal.aborted) {
        if (!isFirst && !signal.aborted) await tell(`${destination.href} is reached again.`);
        return outcome;
      }
      if (isFirst) await tell(`${destination.href} can't be reached (${outcome.reason}). Trying again.`);
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, MOST_WAIT_MS);
    }
  }
}

function lineOf(request: CapturedRequest, outcome: Outcome, json: boolean): string {
  const { index, method } = request;
  if (json) {
    const { kind, ...rest } = outcome;
    return jsonLine({ index, method, target: targetOf(request), outcome: kind, ...rest });
  }
  const told = outcome.kind === 'answered' ? `${outcome.status}  ${Math.round(outcome.durationMs)} ms` : outcome.reason;
  return `${captureLine(request).trimEnd()}  → ${told}\n`;
}
