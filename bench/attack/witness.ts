import { Agent, request } from 'node:http';
import { median, quantile } from '../quantile.ts';

/** Differs from the attacker's address, because some limits are per address. */
const WITNESS_ADDRESS = '127.0.0.2';
const TIMEOUT_MS = 20_000;
/** Maximum number of open requests, so that the witness does not flood a server that has stalled. */
const MAX_OPEN = 600;

export interface AskedRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

interface Answer {
  /** 0 without a complete response. */
  readonly status: number;
  /** True if the request used an open connection. */
  readonly isReused: boolean;
}

/** Resolves after the complete response or a failure. A request without an agent opens a new connection. */
export function ask(
  { url, method, headers = {}, body }: AskedRequest,
  agent: Agent | false,
  timeoutMs: number,
): Promise<Answer> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const options = { method, agent, localAddress: WITNESS_ADDRESS, headers: { ...headers, ...length } };
    const end = (status = 0): void => resolve({ status, isReused: sent.reusedSocket });
    const sent = request(url, options, (answer) => {
      answer.resume();
      answer.on('end', () => end(answer.statusCode));
      answer.on('close', () => end());
    });
    const timer = setTimeout(() => sent.destroy(), timeoutMs);
    sent.on('error', () => end());
    sent.on('close', () => {
      clearTimeout(timer);
      end();
    });
    sent.end(body);
  });
}

export interface Observation {
  readonly count: number;
  /** Number of responses other than 200, and of requests without a response. */
  readonly failures: number;
  /** Number of responses by status, without 200. 0 means no response. */
  readonly failedWith: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  /** Maximum on open connections. A new connection also waits until it is accepted. */
  readonly worstReusedMs: number;
}

/**
 * Repeats a request at a steady rate without waiting for responses, alternately on kept and on new connections. Latencies start at the
 * scheduled time of a request.
 */
export class SteadyRequests {
  readonly #asked: AskedRequest;
  readonly #everyMs: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #latencies: number[] = [];
  #worstReusedMs = 0;
  readonly #failures = new Map<number, number>();
  readonly #open = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #started = performance.now();
  #due = 0;

  constructor(asked: AskedRequest, everyMs: number) {
    this.#asked = asked;
    this.#everyMs = everyMs;
    this.#timer = setInterval(() => this.#sendDue(), Math.min(everyMs, 10));
  }

  #sendDue(): void {
    const now = performance.now();
    for (; this.#started + this.#due * this.#everyMs <= now; this.#due += 1) {
      if (this.#open.size < MAX_OPEN) this.#send(this.#started + this.#due * this.#everyMs);
    }
  }

  #send(dueAt: number): void {
    const asked = ask(this.#asked, this.#due % 2 === 0 ? this.#agent : false, TIMEOUT_MS).then(
      ({ status, isReused }) => {
        const latencyMs = performance.now() - dueAt;
        this.#latencies.push(latencyMs);
        if (isReused) this.#worstReusedMs = Math.max(this.#worstReusedMs, latencyMs);
        if (status !== 200) this.#failures.set(status, (this.#failures.get(status) ?? 0) + 1);
        this.#open.delete(asked);
      },
    );
    this.#open.add(asked);
  }

  /** Stops sending and waits for the remaining responses. */
  async finish(): Promise<Observation> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    this.#agent.destroy();
    const failures = [...this.#failures].toSorted(([one], [other]) => one - other);
    return {
      count: this.#latencies.length,
      failures: failures.reduce((sum, [, count]) => sum + count, 0),
      failedWith: failures.map(([status, count]) => `${status} × ${count}`).join(', '),
      p50Ms: median(this.#latencies),
      p99Ms: quantile(this.#latencies, 0.99),
      worstMs: Math.max(0, ...this.#latencies),
      worstReusedMs: this.#worstReusedMs,
    };
  }
}
