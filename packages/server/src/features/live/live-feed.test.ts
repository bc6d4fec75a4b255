import { afterAll, describe, expect, test, vi } from 'vitest';
import { unsavedId } from '@creel/contract';
import type { LiveMessage } from '@creel/contract';
import { openLive, shownAfter, shows, toldIndexes } from '../../../test/live-viewer.ts';
import type { LiveViewer } from '../../../test/live-viewer.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestPerson } from '../../../test/test-server.ts';

/** Messages to viewers, on a real server over real sockets (docs/api.md, "Live"). */
let person: TestPerson;
const server = await startTestServer({ settings: { DEFAULT_TIER: 'PREMIUM' } });
afterAll(() => server.stop());

/** A user and an endpoint per test, so that no plan limit is reached. */
async function newEndpoint(autoSaveEnabled = false): Promise<string> {
  person = await server.register();
  return (await person.client.call('createEndpoint', { body: { autoSaveEnabled } })).uid;
}

/** Captures one request and returns its index. */
async function capture(uid: string, body = 'hello'): Promise<number> {
  const answer = await person.client.send(`/h/${uid}/live`, { method: 'POST', body });
  await answer.arrayBuffer();
  expect(answer.status).toBe(200);
  return Number(answer.headers.get('x-creel-request'));
}

/** Captures `count` requests, 16 at a time. Request `nth` is sent when `mayFollow(nth)` resolves. */
async function storm(uid: string, count: number, mayFollow?: (nth: number) => Promise<unknown>): Promise<void> {
  let begun = 0;
  const send = async (): Promise<void> => {
    while (begun < count) {
      const nth = begun++;
      await mayFollow?.(nth);
      await capture(uid);
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const types = (messages: readonly LiveMessage[]): string[] =>
  messages.map((message) => message.type).filter((type) => type !== 'endpoint');
const hasType = (type: LiveMessage['type']) => (messages: readonly LiveMessage[]) =>
  messages.some((message) => message.type === type);
const closeAll = (viewers: readonly LiveViewer[]) => Promise.all(viewers.map((viewer) => viewer.close()));

test('init has the newest 100, saved and unsaved, newest first, and equals the lists', async () => {
  const uid = await newEndpoint();
  await storm(uid, 120);
  await person.client.call('saveRequest', { params: { uid }, body: { index: 110 } });
  await using viewer = await openLive(person.client, uid);
  await viewer.until(hasType('init'));
  const [init] = viewer.messages;
  const listed = await person.client.call('listUnsaved', { params: { uid }, query: { limit: 99 } });
  const saved = await person.client.call('listSaved', { params: { uid } });
  expect(init).toEqual({ type: 'init', data: [...listed, ...saved].toSorted((a, b) => b.index - a.index) });
});

describe('each viewer gets each request once, in order', () => {
  test('20 connected viewers, 500 requests', async () => {
    const uid = await newEndpoint();
    const viewers = await Promise.all(upTo(20).map(() => openLive(person.client, uid)));
    await Promise.all(viewers.map((viewer) => viewer.until(hasType('init'))));
    await storm(uid, 500);
    await Promise.all(viewers.map((viewer) => viewer.until(shows(499))));
    for (const { messages } of viewers) {
      expect(types(messages)).toEqual(['init', ...Array.from({ length: 500 }, () => 'request')]);
      expect(toldIndexes(messages)).toEqual(upTo(500));
    }
    await closeAll(viewers);
  });

  test('20 viewers that connect at any moment of a storm', async () => {
    const uid = await newEndpoint();
    const stormy = storm(uid, 900);
    const viewers: LiveViewer[] = [];
    for (let count = 0; count < 20; count += 1) {
      viewers.push(await openLive(person.client, uid));
      await new Promise((resolve) => setTimeout(resolve, (count * 7) % 40));
    }
    await stormy;
    await Promise.all(viewers.map((viewer) => viewer.until(shows(899))));
    for (const { messages } of viewers) {
      const told = toldIndexes(messages);
      expect(messages[0]?.type).toBe('init');
      expect(told).toEqual(upTo(900).slice(told[0]));
    }
    await closeAll(viewers);
  });

  test('a viewer that repeatedly loses its connection has seen all requests in the end', async () => {
    const uid = await newEndpoint();
    const seen = new Set<number>();
    let newest = -1;
    const note = (messages: readonly LiveMessage[]): number[] => {
      const told = toldIndexes(messages);
      newest = Math.max(newest, ...told);
      return told;
    };
    // An `init` has the newest 100, so the senders never get further ahead.
    const stormy = storm(uid, 900, (nth) => vi.waitUntil(() => nth < newest + 100, { interval: 5, timeout: 30_000 }));
    for (let round = 0; !seen.has(899); round += 1) {
      const viewer = await openLive(person.client, uid);
      await viewer.until((messages) => note(messages).includes(899) || messages.length > (round * 13) % 30);
      viewer.socket.terminate();
      await viewer.closed;
      for (const index of note(viewer.messages)) seen.add(index);
    }
    await stormy;
    expect([...seen].toSorted((a, b) => a - b)).toEqual(upTo(900));
  });
});

describe('other messages', () => {
  test("a request has the API's form, with the beginning of a large body", async () => {
    const uid = await newEndpoint();
    await using viewer = await openLive(person.client, uid);
    await viewer.until(hasType('init'));
    await capture(uid, 'ä'.repeat(100_000));
    await viewer.until(shows(0));
    const [listed] = await person.client.call('listUnsaved', { params: { uid } });
    expect(listed?.bodyTruncated).toBe(true);
    expect(shownAfter(viewer.messages).get(0)).toEqual(listed);
  });

  test('with autosave on a request is saved already', async () => {
    const uid = await newEndpoint(true);
    await using viewer = await openLive(person.client, uid);
    await viewer.until(hasType('init'));
    await capture(uid);
    await viewer.until(shows(0));
    expect(shownAfter(viewer.messages).get(0)).toMatchObject({
      saved: true,
      id: expect.toSatisfy((id: number) => id > 0),
    });
  });

  test('saved, deleted and clear, each once and in order', async () => {
    const uid = await newEndpoint();
    await storm(uid, 3);
    await using viewer = await openLive(person.client, uid);
    await viewer.until(hasType('init'));
    const changes = () =>
      viewer.messages.filter(({ type }) => type !== 'endpoint' && type !== 'init' && type !== 'request');
    // Messages of two nodes have no order, so the test waits for each of them. A second one would arrive before request 3.
    const untilChanges = (count: number): Promise<void> => viewer.until(() => changes().length >= count);
    const params = { uid };
    const saved = await person.client.call('saveRequest', { params, body: { index: 1 } });
    await untilChanges(1);
    await person.client.call('saveRequest', { params, body: { index: 1 } });
    await person.client.call('deleteRequest', { params: { uid, id: saved.id } });
    await untilChanges(2);
    await person.client.call('deleteRequest', { params: { uid, id: -1_000_002 } });
    await untilChanges(3);
    await person.client.call('clearRequests', { params });
    await untilChanges(4);
    await capture(uid);
    await viewer.until(shows(3));
    expect(changes()).toEqual([
      { type: 'saved', data: { oldId: -1_000_001, request: saved } },
      { type: 'deleted', data: { id: saved.id } },
      { type: 'deleted', data: { id: -1_000_002 } },
      { type: 'clear', data: {} },
    ]);
    expect([...shownAfter(viewer.messages).keys()]).toEqual([3]);
  });

  test('each of several saved requests, also if some are deleted at once', async () => {
    const uid = await newEndpoint();
    await storm(uid, 200);
    const params = { uid };
    await using viewer = await openLive(person.client, uid);
    await viewer.until(hasType('init'));
    const saved = await person.client.call('saveRequests', { params, body: { indexes: upTo(200) } });
    await person.client.call('deleteRequests', { params, body: { indexes: upTo(100) } });
    const isDone = (messages: readonly LiveMessage[]): boolean => {
      const shown = [...shownAfter(messages).values()];
      return shown.length === 100 && shown.every((request) => request.saved);
    };
    await viewer.until(isDone);
    const shown = [...shownAfter(viewer.messages).values()].map(({ index, id }) => ({ index, id }));
    expect(shown.toSorted((a, b) => a.index - b.index)).toEqual(saved.slice(100));
  });

  test('each of several deleted requests, by the id that it has', async () => {
    const uid = await newEndpoint();
    await storm(uid, 400);
    const params = { uid };
    await using viewer = await openLive(person.client, uid);
    await viewer.until(hasType('init'));
    const saved = await person.client.call('saveRequest', { params, body: { index: 399 } });
    // On another node, a save that is known only after the deletion is a deletion by the id from before.
    await viewer.until(hasType('saved'));
    await person.client.call('deleteRequests', { params, body: { indexes: upTo(399) } });
    await person.client.call('deleteRequests', { params, body: { indexes: [399] } });
    const deleted = () => viewer.messages.flatMap(({ type, data }) => (type === 'deleted' ? [data.id] : []));
    await viewer.until(() => deleted().length >= 400);
    expect(deleted().toSorted()).toEqual([saved.id, ...upTo(399).map(unsavedId)].toSorted());
    expect([...shownAfter(viewer.messages).keys()]).toEqual([]);
  });

  test('nothing of another endpoint', async () => {
    const uid = await newEndpoint();
    const other = (await person.client.call('createEndpoint', { body: {} })).uid;
    await using viewer = await openLive(person.client, uid);
    await viewer.until(hasType('init'));
    await capture(other, 'not for you');
    await person.client.call('clearRequests', { params: { uid: other } });
    await capture(uid, 'for you');
    await viewer.until(shows(0));
    expect(types(viewer.messages)).toEqual(['init', 'request']);
    expect(shownAfter(viewer.messages).get(0)?.body).toBe('for you');
  });

  test('clears during a storm, while viewers connect: each shows the stored requests in the end', async () => {
    const uid = await newEndpoint();
    const stormy = storm(uid, 450);
    const viewers: LiveViewer[] = [];
    for (let count = 0; count < 12; count += 1) {
      const [viewer] = await Promise.all([
        openLive(person.client, uid),
        person.client.call('clearRequests', { params: { uid } }),
      ]);
      viewers.push(viewer);
    }
    await stormy;
    const last = await capture(uid);
    const stored = await person.client.call('listUnsaved', { params: { uid }, query: { limit: 500 } });
    for (const viewer of viewers) {
      await viewer.until(shows(last));
      const shown = [...shownAfter(viewer.messages).keys()].toSorted((a, b) => b - a);
      // A viewer has the newest 100 of the requests from before it connected.
      expect(stored.map((request) => request.index).slice(0, shown.length)).toEqual(shown);
      expect(shown.length).toBeGreaterThanOrEqual(Math.min(100, stored.length));
    }
    await closeAll(viewers);
  });
});

describe('the endpoint message', () => {
  const endpointMessages = (viewer: LiveViewer) =>
    viewer.messages.filter((message) => message.type === 'endpoint').map((message) => message.data);

  test('reports a change of the endpoint', async () => {
    const uid = await newEndpoint();
    await using viewer = await openLive(person.client, uid);
    await viewer.until(hasType('init'));
    await person.client.call('changeEndpoint', { params: { uid }, body: { name: 'renamed' } });
    await viewer.until(hasType('endpoint'));
    expect(endpointMessages(viewer)).toEqual([await person.client.call('getEndpoint', { params: { uid } })]);
  });

  test('a storm: about once a second, and the last one has the final numbers', async () => {
    const uid = await newEndpoint();
    await using viewer = await openLive(person.client, uid);
    await viewer.until(hasType('init'));
    const began = performance.now();
    await storm(uid, 500);
    const seconds = (performance.now() - began) / 1000;
    await viewer.until(() => endpointMessages(viewer).at(-1)?.requestCount === 500);
    expect(endpointMessages(viewer).at(-1)).toEqual(await person.client.call('getEndpoint', { params: { uid } }));
    expect(endpointMessages(viewer).length).toBeLessThanOrEqual(seconds + 2);
  });
});
