import { liveMessageSchema } from '@creel/contract';
import type { Endpoint } from '@creel/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { TestClient } from '../test-client.ts';

/** Milliseconds before a viewer connects again. */
const RECONNECT_MS = 300;
const ANSWER_LIMIT_MS = 15_000;
/** A viewer's list is as long as an `init`. */
export const LIST_LENGTH = 100;

/** One sender: sends its name and a number, one after the other, to one address. */
export class Sender {
  readonly acknowledged: string[] = [];
  /** Answers by status; 0 for none. */
  readonly answers = new Map<number, number>();
  /** Milliseconds of the slowest answer. */
  slowestMs = 0;
  readonly #end = new AbortController();
  readonly #running: Promise<void>;

  /** @param pauseMs milliseconds between two requests */
  constructor(name: string, url: () => string, pauseMs: number) {
    this.#running = this.#send(name, url, pauseMs);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #send(name: string, url: () => string, pauseMs: number): Promise<void> {
    for (let nth = 0; !this.#end.signal.aborted; nth += 1) {
      const body = `${name}:${nth}`;
      const from = performance.now();
      const status = await fetch(url(), { method: 'POST', body, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }).then(
        async (answer) => {
          await answer.text();
          return answer.status;
        },
        () => 0,
      );
      if (status !== 0) this.slowestMs = Math.max(this.slowestMs, performance.now() - from);
      this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
      if (status === 200) this.acknowledged.push(body);
      await sleep(pauseMs);
    }
  }
}

/** A browser's list of an endpoint: reconnects, and begins again with each `init`. */
export class Viewer {
  /** Indexes, newest first. */
  list: number[] = [];
  readonly closeCodes: number[] = [];
  readonly endpointId: number;
  readonly #url: string;
  readonly #cookie: string;
  #socket: WebSocket | undefined;
  #isEnded = false;

  constructor(endpointId: number, url: string, cookie: string) {
    this.endpointId = endpointId;
    this.#url = url;
    this.#cookie = cookie;
    this.#connect();
  }

  stop(): void {
    this.#isEnded = true;
    this.#socket?.terminate();
  }

  #connect(): void {
    const socket = new WebSocket(this.#url, { headers: { cookie: this.#cookie } });
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('message', (data) => this.#receive(String(data)));
    socket.on('close', (code) => {
      this.closeCodes.push(code);
      if (!this.#isEnded) setTimeout(() => this.#isEnded || this.#connect(), RECONNECT_MS);
    });
  }

  #receive(text: string): void {
    const message = liveMessageSchema.parse(JSON.parse(text));
    if (message.type === 'init') this.list = message.data.map(({ index }) => index);
    if (message.type === 'request') this.list = [message.data.index, ...this.list].slice(0, LIST_LENGTH);
  }
}

/** Milliseconds between two rounds of calls. */
const DASHBOARD_PAUSE_MS = 100;

/** Registers a user and creates endpoints. */
export async function createEndpoints(client: TestClient, username: string, count: number): Promise<Endpoint[]> {
  const body = { username, email: `${username}@example.com`, password: 'a good password' };
  await client.call('register', { body });
  const endpoints = [];
  for (let nth = 0; nth < count; nth += 1) endpoints.push(await client.call('createEndpoint', { body: {} }));
  return endpoints;
}

/** A call of the dashboard with a JSON body. Resolves with the answer's body; `undefined` without an answer. */
export type DashboardCall = (path: string, method?: string, body?: object) => Promise<unknown>;

/** Repeats a round of calls until `stop`, which returns their number by status; 0 is none. */
export function useDashboard(client: TestClient, round: (call: DashboardCall, nth: number) => Promise<unknown>) {
  const statuses: Record<string, number> = {};
  const call: DashboardCall = async (path, method = 'GET', body) => {
    const { status, body: answer } = await client
      .answerTo(path, { method, ...(body && { json: body }) })
      .catch(() => ({ status: 0, body: undefined }));
    statuses[status] = (statuses[status] ?? 0) + 1;
    return answer;
  };
  let isEnded = false;
  const running = (async () => {
    for (let nth = 0; !isEnded; nth += 1) {
      await round(call, nth);
      await sleep(DASHBOARD_PAUSE_MS);
    }
  })();
  return {
    async stop(): Promise<Readonly<Record<string, number>>> {
      isEnded = true;
      await running;
      return statuses;
    },
  };
}
