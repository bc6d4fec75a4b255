import { ApiError, MAX_DELIVERY_RESPONSE_BYTES, MAX_REASON_CHARS, textOf, textOfBeginning } from '@creel/contract';
import type { CapturedRequest, Client, OperationInput } from '@creel/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTemporary } from './cli-error.ts';
import { sentence } from './output.ts';
import type { SendResult } from './send-capture.ts';
import { withRequestId } from './stored-requests.ts';

/** An attempt to send a capture. */
export interface Attempt {
  readonly request: CapturedRequest;
  /** Where it was sent. */
  readonly url: string;
  /** From 1 up. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly result: SendResult;
}

type Report = OperationInput<'reportDelivery'>['body'];

/** The endpoint whose attempts are reported, and how the user learns of problems. */
export interface DeliveryReportsOptions {
  readonly client: Client;
  readonly uid: string;
  /** Receives a sentence for the user. */
  readonly notify: (sentence: string) => Promise<void>;
  readonly retryMs?: number;
}

/** Maximum number of waiting reports. Over it, the oldest is dropped. */
const MAX_WAITING = 1000;
/** With this many, forwarding waits for a round of reports. They are sent within `flush`. */
const MANY_WAITING = 100;
/** Reports per round. The server stores attempts in groups, so that one report takes as long as several. */
const MAX_AT_ONCE = 16;
/** Milliseconds after a failed round. The next one tries a single report. */
const RETRY_MS = 1000;

interface WaitingReport {
  readonly request: Pick<CapturedRequest, 'index' | 'id'>;
  readonly report: Report;
}

/**
 * Reports attempts to the server, so that its pages show them. Reports are sent in the background, and again while the
 * server can't be reached. A server that does not know the call gets no further ones.
 */
export class DeliveryReports {
  readonly #options: DeliveryReportsOptions;
  #waiting: WaitingReport[] = [];
  #sending: Promise<void> | undefined;
  /** The current or last round. True if the server took all of its reports. */
  #round: Promise<boolean> | undefined;
  /** Ends the wait after a failed round. */
  #retryNow = (): void => {};
  #isOff = false;
  /** Dropped reports that the user does not know of. */
  #dropped = 0;
  #knowsOfWrongTime = false;

  constructor(options: DeliveryReportsOptions) {
    this.#options = options;
  }

  add(attempt: Attempt): void {
    if (this.#isOff) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    const { index, id } = attempt.request;
    this.#waiting.push({ request: { index, id }, report: toReport(attempt) });
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
  }

  /** Resolves when few reports wait, so that a fast destination causes no dropped ones, or while the server takes none. */
  async keepUp(): Promise<void> {
    while (this.#waiting.length >= MANY_WAITING && !this.#isOff && (await this.#round));
  }

  /** Resolves when all reports are sent, and after `maxMs` milliseconds at the latest. Drops those that still wait. */
  async flush(maxMs: number): Promise<void> {
    this.#retryNow();
    await Promise.race([this.#sending, sleep(maxMs, undefined, { ref: false })]);
    this.#isOff = true;
    this.#dropped += this.#waiting.length;
    this.#waiting = [];
    await this.#notifyDropped();
  }

  async #notifyDropped(): Promise<void> {
    const count = this.#dropped;
    this.#dropped = 0;
    if (count === 0) return;
    const results = count === 1 ? '1 result was' : `${count.toLocaleString('en-US')} results were`;
    await this.#options.notify(
      `${results} not reported, because the server did not accept them in time. Its pages don't show them.`,
    );
  }

  async #sendAll(): Promise<void> {
    let isTaken = true;
    while (this.#waiting.length > 0 && !this.#isOff) {
      this.#round = this.#sendRound(isTaken ? MAX_AT_ONCE : 1);
      isTaken = await this.#round;
      if (!isTaken) await this.#waitForRetry();
    }
  }

  #waitForRetry(): Promise<void> {
    const { retryMs = RETRY_MS } = this.#options;
    return new Promise((resolve) => {
      this.#retryNow = resolve;
      setTimeout(resolve, retryMs).unref();
    });
  }

  async #sendRound(count: number): Promise<boolean> {
    const round = firstOfEach(this.#waiting).slice(0, count);
    const outcomes = await Promise.all(round.map((waiting) => this.#send(waiting)));
    if (outcomes.includes('unknown-call')) await this.#switchOff();
    const done = new Set(round.filter((_, at) => outcomes[at] === 'done'));
    this.#waiting = this.#waiting.filter((waiting) => !done.has(waiting));
    const isTaken = this.#isOff || done.size === round.length;
    // Part of the round, because `keepUp` asks again and again while the last round is over and many reports wait.
    if (isTaken) await this.#notifyDropped();
    return isTaken;
  }

  async #send({ request, report: body }: WaitingReport): Promise<'done' | 'try-again' | 'unknown-call'> {
    const { client, uid } = this.#options;
    try {
      await withRequestId(client, uid, request, (id) => client.call('reportDelivery', { params: { uid, id }, body }));
      return 'done';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'NOT_FOUND' || error.status === 405) return 'unknown-call';
      if (error.fields['at'] !== undefined) await this.#notifyWrongTime();
      // Other rejections would be the same the next time: a deleted request, an ended session.
      return isTemporary(error) ? 'try-again' : 'done';
    }
  }

  async #notifyWrongTime(): Promise<void> {
    if (this.#knowsOfWrongTime) return;
    this.#knowsOfWrongTime = true;
    await this.#options.notify(
      "The clocks of this machine and the server differ by more than a day, so the server's pages don't show the results.",
    );
  }

  async #switchOff(): Promise<void> {
    this.#isOff = true;
    this.#waiting = [];
    await this.#options.notify("This server can't show what was forwarded, because it is older than this program.");
  }
}

/** One attempt per capture and target, because the server shows the attempt that arrives last as the latest. */
function firstOfEach(waiting: readonly WaitingReport[]): readonly WaitingReport[] {
  const first = new Map<string, WaitingReport>();
  for (const one of waiting) {
    const key = `${one.request.index} ${one.report.url}`;
    if (!first.has(key)) first.set(key, one);
  }
  return [...first.values()];
}

function toReport({ url, number, startedAt, request, result }: Attempt): Report {
  const attempt = {
    url,
    method: request.method,
    attempt: number,
    durationMs: result.durationMs,
    at: new Date(startedAt).toISOString(),
  };
  if (result.kind !== 'answered')
    return { ...attempt, status: null, error: sentence(result.reason).slice(0, MAX_REASON_CHARS) };
  const { status, statusText, headers, beginning, isCut } = result;
  const isWhole = !isCut && beginning.length <= MAX_DELIVERY_RESPONSE_BYTES;
  const text = isWhole ? textOf(beginning) : textOfBeginning(beginning);
  return {
    ...attempt,
    status,
    statusText: statusText.slice(0, MAX_REASON_CHARS),
    error: null,
    responseHeaders: headers.map(([key, value]) => ({ key, value })),
    responseBody: beginning.length === 0 ? null : (text ?? Buffer.from(beginning).toString('base64')),
    responseBodyEncoding: text === undefined ? 'base64' : 'utf8',
    responseTruncated: isCut,
  };
}
