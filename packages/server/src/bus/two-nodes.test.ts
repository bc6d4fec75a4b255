import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLive, shownAfter } from '../../test/live-viewer.ts';
import { MemoryNetwork } from '../../test/memory-channel.ts';
import { startNats } from '../../test/nats-server.ts';
import type { NatsServer } from '../../test/nats-server.ts';
import { startTwoNodes } from '../../test/two-nodes.ts';
import type { TwoNodes } from '../../test/two-nodes.ts';
import { NodeBus } from './node-bus.ts';
import { describeTwoNodes } from './two-nodes.suite.ts';

describeTwoNodes('through PostgreSQL', {
  settings: () => ({}),
  interrupt: async ({ database }) =>
    void (await database.run(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'creel bus' and datname = current_database()`,
    )),
});

describe('NATS', () => {
  let nats: NatsServer;
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.stop());

  describeTwoNodes('through NATS', {
    settings: () => ({ NATS_URL: nats.url }),
    interrupt: async () => {
      await nats.stop('SIGKILL');
      nats = await startNats({ port: nats.port });
    },
  });
});

describe('two nodes, through a bus that loses, doubles and reorders', () => {
  let nodes: TwoNodes;
  beforeAll(async () => {
    const network = new MemoryNetwork();
    const buses = [0, 1].map(() => new NodeBus((events) => network.open(events)));
    await Promise.all(buses.map((bus) => bus.started()));
    nodes = await startTwoNodes({}, buses);
    let count = 0;
    let late: string[] = [];
    // Of eight messages two are lost, two are doubled, and one arrives after the next.
    network.fault = (text) => {
      count += 1;
      const arrived = [text, ...late];
      late = [];
      if (count % 4 === 0) return [];
      if (count % 4 === 1) return [...arrived, text];
      if (count % 8 !== 2) return arrived;
      late = arrived;
      return [];
    };
  });
  afterAll(() => nodes.stop());

  async function openAtB() {
    const person = await nodes.a.register();
    const { uid } = await person.client.call('createEndpoint', { body: {} });
    const viewer = await openLive(nodes.atB(person), uid);
    await viewer.until((messages) => messages.length > 0);
    return { person, uid, viewer };
  }
  const send = async (uid: string, at = nodes.a): Promise<number> => {
    const answer = await fetch(`${at.origin}/h/${uid}`, { method: 'POST', body: 'hello' });
    await answer.arrayBuffer();
    return answer.status;
  };

  test('in the end each viewer shows what is stored', async () => {
    const { person, uid, viewer } = await openAtB();
    const params = { uid };
    for (let round = 0; round < 40; round += 1) await send(uid, round % 3 === 0 ? nodes.b : nodes.a);
    for (const index of [3, 5, 7, 9]) await person.client.call('saveRequest', { params, body: { index } });
    for (const index of [4, 6, 8])
      await person.client.call('deleteRequest', { params: { uid, id: -(1_000_000 + index) } });
    const [saved, unsaved] = [
      await person.client.call('listSaved', { params }),
      await person.client.call('listUnsaved', { params }),
    ];
    const stored = [...saved, ...unsaved].toSorted((x, y) => x.index - y.index);
    const shown = () => [...shownAfter(viewer.messages).values()].toSorted((x, y) => x.index - y.index);
    await expect.poll(shown).toEqual(stored);
    await viewer.close();
  });

  test.each([0, 1, 2, 3])('an ended session closes the socket (%d)', async () => {
    const { person, viewer } = await openAtB();
    await person.client.call('logout', {});
    expect(await viewer.closed).toBe(4401);
  });

  test.each([0, 1, 2, 3])('a deleted endpoint closes the socket and takes no captures (%d)', async () => {
    const { person, uid, viewer } = await openAtB();
    expect(await send(uid, nodes.b)).toBe(200);
    await person.client.call('deleteEndpoint', { params: { uid } });
    expect(await viewer.closed).toBe(4404);
    await expect.poll(() => send(uid, nodes.b)).toBe(404);
  });
});
