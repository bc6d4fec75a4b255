import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';

/** A sender's record: what it sent, and the response. */
export interface Entry {
  readonly id: number;
  readonly hash: string;
  /** The acknowledged index. */
  acknowledged?: number;
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Body of a numbered capture: unique, with varying lengths. */
function bodyOf(id: number): Buffer {
  return Buffer.from(`${id}:${String.fromCharCode(97 + (id % 26)).repeat((id * 37) % 3000)}`);
}

/** Senders with one connection each, which send until the server ends or they are stopped. */
export class Senders {
  readonly entries: Entry[] = [];
  readonly #agent: Agent;
  readonly #url: string;
  readonly #running: Promise<void>[] = [];
  #stopped = false;
  #nextId: number;

  constructor(url: string, count: number, firstId: number) {
    this.#url = url;
    this.#nextId = firstId;
    this.#agent = new Agent({ keepAlive: true, maxSockets: count });
    for (let sender = 0; sender < count; sender += 1) this.#running.push(this.#send());
  }

  get nextId(): number {
    return this.#nextId;
  }

  get acknowledged(): Entry[] {
    return this.entries.filter((entry) => entry.acknowledged !== undefined);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    this.#agent.destroy();
  }

  async #send(): Promise<void> {
    while (!this.#stopped) {
      const id = this.#nextId++;
      const body = bodyOf(id);
      const entry: Entry = { id, hash: hashOf(body) };
      this.entries.push(entry);
      const index = await this.#post(body);
      if (index === undefined) return;
      entry.acknowledged = index;
    }
  }

  /** The acknowledged index; `undefined` when the connection broke or the response was another one. */
  #post(body: Buffer): Promise<number | undefined> {
    return new Promise((resolve) => {
      const sending = request(
        this.#url,
        { method: 'POST', agent: this.#agent, headers: { 'content-type': 'text/plain' } },
        (answer) => {
          answer.resume();
          const index = Number(answer.headers['x-creel-request'] ?? Number.NaN);
          const done = (): void => resolve(answer.statusCode === 200 && Number.isInteger(index) ? index : undefined);
          answer.on('end', done).on('error', done);
        },
      );
      sending.on('error', () => resolve(undefined));
      sending.end(body);
    });
  }
}
