import type { LiveMessage } from '@creel/contract';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openLive, shownAfter, shows, toldIndexes } from '../../test/live-viewer.ts';
import type { LiveViewer } from '../../test/live-viewer.ts';
import { openRawTarget } from '../../test/raw-target.ts';
import { anyPlan } from '../../test/store-world.ts';
import type { TestClient } from '../../test/test-client.ts';
import type { TestPerson, TestServer } from '../../test/test-server.ts';
import { startTwoNodes } from '../../test/two-nodes.ts';
import type { TwoNodes } from '../../test/two-nodes.ts';

export interface BusUnderTest {
  /** Environment of both nodes. */
  readonly settings: () => Readonly<Record<string, string>>;
  /** Breaks every node's connection to the bus, and returns when they may connect again. */
  readonly interrupt: (nodes: TwoNodes) => Promise<void>;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const hasType = (type: LiveMessage['type']) => (messages: readonly LiveMessage[]) =>
  messages.some((message) => message.type === type);

/** The guarantees of two nodes on one database (docs/architecture.md, "Several nodes"). */
export function describeTwoNodes(name: string, { settings, interrupt }: BusUnderTest): void {
  describe(`two nodes, ${name}`, () => {
    let nodes: TwoNodes;
    let person: TestPerson;
    /** The person's browser at the other node. */
    let there: TestClient;
    beforeAll(async () => {
      nodes = await startTwoNodes(settings());
    });
    afterAll(() => nodes.stop());

    async function newEndpoint(): Promise<string> {
      person = await nodes.a.register();
      there = nodes.atB(person);
      return (await person.client.call('createEndpoint', { body: {} })).uid;
    }
    async function capture(node: TestServer, uid: string): Promise<number> {
      const answer = await fetch(`${node.origin}/h/${uid}`, { method: 'POST', body: 'hello' });
      await answer.arrayBuffer();
      return answer.status;
    }
    async function openAtB(uid: string): Promise<LiveViewer> {
      const viewer = await openLive(there, uid);
      await viewer.until(hasType('init'));
      return viewer;
    }
    const inits = (viewer: LiveViewer): number => viewer.messages.filter(({ type }) => type === 'init').length;

    test('captures at alternating nodes: each viewer gets each once, in order, without a new init', async () => {
      const uid = await newEndpoint();
      const viewers = [await openLive(person.client, uid), await openAtB(uid)];
      for (let round = 0; round < 30; round += 1)
        await Promise.all([nodes.a, nodes.b, nodes.a].map((node) => capture(node, uid)));
      for (const viewer of viewers) {
        await viewer.until(shows(89));
        expect(toldIndexes(viewer.messages)).toEqual(upTo(90));
        expect(inits(viewer)).toBe(1);
        await viewer.close();
      }
    });

    test('saved, deleted, clear and the endpoint itself', async () => {
      const uid = await newEndpoint();
      const params = { uid };
      for (let count = 0; count < 3; count += 1) await capture(nodes.a, uid);
      const viewer = await openAtB(uid);
      const saved = await person.client.call('saveRequest', { params, body: { index: 1 } });
      await viewer.until(hasType('saved'));
      await person.client.call('deleteRequest', { params: { uid, id: saved.id } });
      await viewer.until(hasType('deleted'));
      await person.client.call('clearRequests', { params });
      await viewer.until(hasType('clear'));
      await capture(nodes.a, uid);
      await viewer.until(shows(3));
      expect(viewer.messages.filter(({ type }) => type !== 'endpoint' && type !== 'request').slice(1)).toEqual([
        { type: 'saved', data: { oldId: -1_000_001, request: saved } },
        { type: 'deleted', data: { id: saved.id } },
        { type: 'clear', data: {} },
      ]);
      expect([...shownAfter(viewer.messages).keys()]).toEqual([3]);
      await person.client.call('changeEndpoint', { params, body: { name: 'renamed' } });
      await viewer.until((messages) =>
        messages.some((message) => message.type === 'endpoint' && message.data.name === 'renamed'),
      );
      await viewer.close();
    });

    test('a delivery', async () => {
      const uid = await newEndpoint();
      await capture(nodes.a, uid);
      const viewer = await openAtB(uid);
      const body = {
        url: 'http://127.0.0.1:1/',
        method: 'POST',
        attempt: 1,
        status: 200,
        error: null,
        durationMs: 5,
        at: new Date().toISOString(),
        responseHeaders: [],
        responseBody: 'not in the frame',
      };
      const { id, deliveryId } = await person.client.call('reportDelivery', { params: { uid, id: -1_000_000 }, body });
      await viewer.until(hasType('delivery'));
      expect(viewer.messages.find(({ type }) => type === 'delivery')).toEqual({
        type: 'delivery',
        data: {
          index: 0,
          delivery: expect.objectContaining({ id, deliveryId, kind: 'cli', status: 200 }),
          lastDelivery: expect.objectContaining({ kind: 'cli', status: 200 }),
          deliveryPending: false,
        },
      });
      await viewer.close();
    });

    test('the node with the lease of a destination sends what the other node planned, without a poll', async () => {
      const uid = await newEndpoint();
      await using target = await openRawTarget();
      vi.spyOn(nodes.b.store, 'dueDestinations').mockResolvedValue([]);
      await person.client.call('createDestination', { params: { uid }, body: { url: target.url } });
      await capture(nodes.a, uid);
      await expect.poll(() => target.count()).toBe(1);
      vi.spyOn(nodes.a.store, 'dueDestinations').mockResolvedValue([]);
      vi.spyOn(nodes.a.store, 'unplannedEndpoints').mockResolvedValue([]);
      // Several times, because the bus may be down for a moment.
      await expect.poll(async () => (await capture(nodes.b, uid), target.count())).toBeGreaterThan(1);
    });

    test('a request that no longer waits, because its destination is deleted', async () => {
      const uid = await newEndpoint();
      const viewer = await openAtB(uid);
      // It does not answer, so the request waits until the destination is deleted.
      await using target = await openRawTarget();
      target.answer = () => undefined;
      const body = { url: target.url };
      const { id } = await person.client.call('createDestination', { params: { uid }, body });
      await capture(nodes.a, uid);
      const states = () =>
        viewer.messages.flatMap((message) => (message.type === 'delivery' ? [message.data.deliveryPending] : []));
      await viewer.until(() => states().at(-1) === true);
      await person.client.call('deleteDestination', { params: { uid, id } });
      await viewer.until(() => states().at(-1) === false);
      expect(viewer.messages.at(-1)).toMatchObject({
        data: { index: 0, delivery: { attempt: 0, nextAttemptAt: null } },
      });
      await viewer.close();
    });

    test('closed with 4401 after a logout, a new password, and the end of all other sessions', async () => {
      const uid = await newEndpoint();
      const { username } = person.user;
      const ends: ((other: TestClient) => Promise<unknown>)[] = [
        () => person.client.call('logout', {}),
        (other) =>
          other.call('changePassword', {
            body: { currentPassword: person.password, newPassword: 'another one', confirmPassword: 'another one' },
          }),
        (other) => other.call('endOtherSessions', {}),
      ];
      let { password } = person;
      for (const end of ends) {
        const other = nodes.a.visitor();
        await other.call('login', { body: { username, password } });
        const [viewer, own] = [await openAtB(uid), await openLive(other, uid)];
        await end(other);
        expect(await viewer.closed).toBe(4401);
        expect(own.socket.readyState).toBe(own.socket.OPEN);
        await own.close();
        if (end === ends[1]) password = 'another one';
        await person.client.call('login', { body: { username, password } });
      }
    });

    test('a deleted endpoint: 4404, and captures are 404', async () => {
      const uid = await newEndpoint();
      const viewer = await openAtB(uid);
      expect(await capture(nodes.b, uid)).toBe(200);
      await person.client.call('deleteEndpoint', { params: { uid } });
      expect(await viewer.closed).toBe(4404);
      await expect.poll(() => capture(nodes.b, uid)).toBe(404);
    });

    test('a changed expiry is in force', async () => {
      const uid = await newEndpoint();
      expect(await capture(nodes.b, uid)).toBe(200);
      const { id = 0 } = (await nodes.a.store.findEndpoint(uid)) ?? {};
      await nodes.a.store.changeEndpoint(id, {
        favorite: { on: true, now: Date.now(), plans: anyPlan({ favorites: 5 }) },
      });
      // Past its expiry, and announced by a call that changes something else.
      await nodes.a.store.changeEndpoint(id, {
        favorite: { on: false, now: Date.now() - 1, plans: anyPlan({ expiryMs: 0 }) },
      });
      await person.client.call('changeEndpoint', { params: { uid }, body: { name: 'expired' } });
      await expect.poll(() => capture(nodes.b, uid)).toBe(410);
    });

    test('autosave is in force at once', async () => {
      const uid = await newEndpoint();
      await capture(nodes.b, uid);
      await person.client.call('changeEndpoint', { params: { uid }, body: { autosave: true } });
      await capture(nodes.b, uid);
      expect((await there.call('listSaved', { params: { uid } })).map(({ index }) => index)).toEqual([1]);
    });

    test('while the bus is down: nothing is lost, and sessions and endpoints end in time', async () => {
      const uid = await newEndpoint();
      const viewer = await openAtB(uid);
      await capture(nodes.a, uid);
      await viewer.until(shows(0));
      await interrupt(nodes);
      for (let count = 0; count < 5; count += 1) await capture(nodes.a, uid);
      await viewer.until(shows(5));
      await person.client.call('saveRequest', { params: { uid }, body: { index: 2 } });
      await viewer.until((messages) => shownAfter(messages).get(2)?.saved === true);
      await interrupt(nodes);
      await person.client.call('logout', {});
      expect(await viewer.closed).toBe(4401);
    });

    test('during and after an interruption of the bus, no capture is missing', async () => {
      const uid = await newEndpoint();
      const viewer = await openAtB(uid);
      const storm = (async () => {
        for (let count = 0; count < 60; count += 1) {
          await capture(count % 2 === 0 ? nodes.a : nodes.b, uid);
          await sleep(10);
        }
      })();
      await interrupt(nodes);
      await storm;
      await viewer.until(shows(59));
      expect([...shownAfter(viewer.messages).keys()].toSorted((x, y) => x - y)).toEqual(upTo(60));
      await viewer.close();
    });
  });
}
