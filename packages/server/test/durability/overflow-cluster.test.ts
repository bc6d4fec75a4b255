import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { NatsLink } from '../../src/bus/nats.ts';
import type { PackedCaptures } from '../../src/database/packed-captures.ts';
import { StorageUnavailable } from '../../src/database/store.ts';
import type { CaptureOutcome, CaptureStore, DrainStore } from '../../src/database/store.ts';
import { OverflowLog } from '../../src/features/capture/overflow-log.ts';
import { OverflowWriter } from '../../src/features/capture/overflow-writer.ts';
import { startNatsCluster } from '../chaos/nats-cluster.ts';
import type { NatsCluster } from '../chaos/nats-cluster.ts';

const LIMITS = { maxUnsaved: 5, maxSaved: 7 };
const PATIENCE = { timeout: 60_000 };

/** A database in memory that stores each batch once. */
class Database implements CaptureStore, DrainStore {
  readonly stored: string[] = [];
  isDown = false;

  async writeCaptures(batch: PackedCaptures): Promise<CaptureOutcome> {
    await this.check();
    if (!this.stored.includes(batch.id)) this.stored.push(batch.id);
    return { indexes: new Float64Array(1), savedIds: new Float64Array(1), receivedAt: new Float64Array(1) };
  }

  async writeLogged(batches: readonly PackedCaptures[]) {
    return Promise.all(
      batches.map(async (batch) => {
        const joined = this.stored.includes(batch.id) ? {} : { joinedIds: [batch.id] };
        return { batch: { ...batch, ...joined }, outcome: await this.writeCaptures(batch) };
      }),
    );
  }

  async check(): Promise<void> {
    await sleep(2);
    if (this.isDown) throw new StorageUnavailable('away');
  }
}

/** A node without its HTTP part: sends batches one after the other. */
class Node {
  readonly acknowledged: string[] = [];
  readonly writer: OverflowWriter;
  readonly #link: NatsLink;
  #isSending = false;
  #sending: Promise<void> | undefined;

  constructor(urls: readonly string[], database: Database) {
    this.#link = new NatsLink(urls, () => undefined);
    const connection = () => this.#link.connection;
    this.writer = new OverflowWriter({
      store: database,
      drainStore: database,
      log: new OverflowLog({ name: 'test', replicas: 3, maxBytes: 1_000_000_000, connection }),
      limits: LIMITS,
      onDrained: () => undefined,
      onFailure: () => undefined,
      onMode: () => undefined,
    });
  }

  send(): void {
    this.#isSending = true;
    this.#sending = (async () => {
      while (this.#isSending) {
        const batch = { id: randomUUID(), count: 1, numbers: new Float64Array(5), bytes: new Uint8Array(300) };
        const isTaken = this.writer.writeCaptures(batch, LIMITS, 4000).then(
          () => true,
          () => false,
        );
        if (await isTaken) this.acknowledged.push(batch.id);
        await sleep(5);
      }
    })();
  }

  async rest(): Promise<void> {
    this.#isSending = false;
    await this.#sending;
  }

  async close(): Promise<void> {
    await this.rest();
    await this.#link.close();
    await this.writer.close();
  }
}

async function startNodes(cluster: NatsCluster, database: Database): Promise<Node[]> {
  const nodes = [0, 1, 2].map(() => new Node(cluster.urls, database));
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await cluster.stop();
  });
  await Promise.all(nodes.map((node) => node.writer.start(60_000)));
  await untilDrained(nodes);
  return nodes;
}

async function untilDrained(nodes: readonly Node[]): Promise<void> {
  await expect.poll(() => nodes.map(({ writer }) => writer.isDrained), PATIENCE).toEqual([true, true, true]);
}

test('nats-servers are killed while batches are logged and drained: each is stored once, in order', async () => {
  const cluster = await startNatsCluster();
  const database = new Database();
  const nodes = await startNodes(cluster, database);
  for (const round of [0, 1, 2]) {
    for (const node of nodes) node.send();
    database.isDown = true;
    await sleep(500);
    // The second kill hits a log that may be empty, and a server that may not have caught up with the others.
    await cluster.kill(round);
    const counts = nodes.map(({ acknowledged }) => acknowledged.length);
    const areLogging = () => nodes.map(({ acknowledged }, nth) => acknowledged.length > (counts[nth] ?? 0) + 20);
    await expect.poll(areLogging, PATIENCE).toEqual([true, true, true]);
    database.isDown = false;
    await sleep(1000);
    await cluster.kill((round + 1) % 3);
    await Promise.all(nodes.map((node) => node.rest()));
    await untilDrained(nodes);
  }
  expect(database.stored.length).toBe(new Set(database.stored).size);
  for (const { acknowledged } of nodes) {
    expect(acknowledged.length).toBeGreaterThan(100);
    const positions = new Map(database.stored.map((id, position) => [id, position]));
    const stored = acknowledged.map((id) => positions.get(id) ?? -1);
    expect(stored).not.toContain(-1);
    expect(stored).toEqual(stored.toSorted((a, b) => a - b));
  }
}, 300_000);
