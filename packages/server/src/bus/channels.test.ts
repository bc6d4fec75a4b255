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
  /** Breaks all connections. They may be opened again at once. */
  readonly interrupt: () => Promise<void>;
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
      await Promise.all(nodes.map((node) => node.started()));
      return nodes;
    }

    test('1,000 notices reach each other node once and in order', async () => {
      const nodes = await openNodes(3);
      const heard = nodes.map((node) => {
        const ids: string[] = [];
        node.subscribe((notice) => notice.kind === 'session' && ids.push(notice.id));
        return ids;
      });
      const sent = Array.from({ length: 1000 }, (_, at) => String(at));
      for (const id of sent) {
        nodes[0]?.publish({ kind: 'session', id });
        if (Number(id) % 100 === 99) await sleep(5);
      }
      await expect.poll(() => heard.map((ids) => ids.length)).toEqual([0, 1000, 1000]);
      expect(heard[1]).toEqual(sent);
      expect(heard[2]).toEqual(sent);
      await Promise.all(nodes.map((node) => node.close()));
    });

    test('a broken connection is a gap, and notices arrive again', async () => {
      const [sender, receiver] = await openNodes(2);
      if (sender === undefined || receiver === undefined) throw new Error('There are two nodes');
      const heard: string[] = [];
      let gaps = 0;
      receiver.subscribe((notice) => notice.kind === 'session' && heard.push(notice.id));
      receiver.onGap(() => (gaps += 1));
      await world.interrupt();
      await expect.poll(() => gaps).toBeGreaterThan(0);
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
    interrupt: async () => {
      link.cut();
      await sleep(1500);
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
      const link = new NatsLink({ urls: [server.url], onFailure: () => undefined });
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
    interrupt: async () => {
      const { fault } = network;
      network.fault = () => [];
      await sleep(1500);
      network.fault = fault;
    },
    stop: () => Promise.resolve(),
  };
});
