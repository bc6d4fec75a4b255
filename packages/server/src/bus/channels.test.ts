import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MemoryNetwork } from '../../test/memory-channel.ts';
import { startNats } from '../../test/nats-server.ts';
import type { NatsServer } from '../../test/nats-server.ts';
import { openLink } from '../../test/postgres-link.ts';
import { createTestDatabase } from '../../test/test-database.ts';
import type { TestDatabase } from '../../test/test-database.ts';
import { NatsChannel, NatsLink } from './nats.ts';
import { NodeBus } from './node-bus.ts';
import type { Channel, ChannelEvents } from './node-bus.ts';
import { PostgresChannel } from './postgres-channel.ts';

interface World {
  readonly open: (events: ChannelEvents) => Channel;
  /** Breaks all connections. They may be opened again at once, or after `noticed`, if a broken one is only silent. */
  readonly interrupt: (noticed: () => Promise<void>) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** One suite for every way to connect nodes. */
function describeChannel(name: string, start: () => Promise<World>): void {
  describe(`a bus through ${name}`, () => {
    let world: World;
    beforeAll(async () => {
      world = await start();
    });
    afterAll(() => world.stop());

    async function openNodes(count: number): Promise<NodeBus[]> {
      const nodes = Array.from({ length: count }, () => new NodeBus((events) => world.open(events)));
      // Not `started()`, which gives up after two seconds: a node that knows no other sends no notices.
      await expect.poll(() => nodes.every((node) => node.nodeCount === count)).toBe(true);
      return nodes;
    }

    test('1,000 notices reach each other node once and in order', async () => {
      const nodes = await openNodes(3);
      let gaps = 0;
      let sent: string[] = [];
      const heard: string[][] = nodes.map(() => []);
      for (const [at, node] of nodes.entries()) {
        node.subscribe((notice) => notice.kind === 'session' && heard[at]?.push(notice.id));
        node.onGap(() => (gaps += 1));
      }
      // A bus whose messages take a second, as on a busy machine, drops notices and reports a gap. Then others are sent.
      do {
        await expect.poll(() => nodes.every((node) => node.nodeCount === nodes.length && node.isHealthy)).toBe(true);
        gaps = 0;
        sent = Array.from({ length: 1000 }, () => randomBytes(4).toString('hex'));
        for (const [at, id] of sent.entries()) {
          nodes[0]?.publish({ kind: 'session', id });
          if (at % 100 === 99) await sleep(5);
        }
        const hasArrived = () => heard.slice(1).every((ids) => ids.at(-1) === sent.at(-1));
        await expect.poll(() => gaps > 0 || hasArrived()).toBe(true);
      } while (gaps > 0);
      const isOfLast = (id: string) => sent.includes(id);
      expect(heard.map((ids) => ids.filter(isOfLast))).toEqual([[], sent, sent]);
      await Promise.all(nodes.map((node) => node.close()));
    });

    test('a broken connection is a gap, and notices arrive again', async () => {
      const [sender, receiver] = await openNodes(2);
      if (sender === undefined || receiver === undefined) throw new Error('There are two nodes');
      const heard: string[] = [];
      let gaps = 0;
      receiver.subscribe((notice) => notice.kind === 'session' && heard.push(notice.id));
      receiver.onGap(() => (gaps += 1));
      const noticed = async () => await expect.poll(() => gaps).toBeGreaterThan(0);
      await world.interrupt(noticed);
      await noticed();
      await expect
        .poll(() => {
          sender.publish({ kind: 'session', id: 'again' });
          return heard.includes('again') && sender.isHealthy && receiver.isHealthy;
        })
        .toBe(true);
      await Promise.all([sender.close(), receiver.close()]);
    });
  });
}

describeChannel('PostgreSQL', async () => {
  const database: TestDatabase = await createTestDatabase();
  return {
    open: (events) => new PostgresChannel(database.url, events),
    interrupt: async () =>
      void (await database.run(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'creel bus' and datname = current_database()`,
      )),
    stop: database.remove,
  };
});

describeChannel('PostgreSQL, over a network that falls silent', async () => {
  const database: TestDatabase = await createTestDatabase();
  const link = await openLink(database.url);
  return {
    open: (events) => new PostgresChannel(link.url, events),
    interrupt: async (noticed) => {
      link.cut();
      await noticed();
      link.mend();
    },
    stop: async () => {
      await link.close();
      await database.remove();
    },
  };
});

describeChannel('NATS', async () => {
  let server: NatsServer = await startNats();
  const links: NatsLink[] = [];
  const installation = randomBytes(4).toString('hex');
  return {
    open: (events) => {
      const link = new NatsLink([server.url], () => undefined);
      links.push(link);
      return new NatsChannel(link, installation, events);
    },
    interrupt: async () => {
      await server.stop('SIGKILL');
      server = await startNats({ port: server.port });
    },
    stop: async () => {
      await Promise.all(links.map((link) => link.close()));
      await server.stop();
    },
  };
});

describeChannel('memory', async () => {
  const network = new MemoryNetwork();
  return {
    open: (events) => network.open(events),
    interrupt: async (noticed) => {
      const { fault } = network;
      network.fault = () => [];
      await noticed();
      network.fault = fault;
    },
    stop: () => Promise.resolve(),
  };
});
