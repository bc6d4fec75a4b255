import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MemoryNetwork } from '../../test/memory-channel.ts';
import { localBus, readMessage } from './bus.ts';
import { NodeBus } from './node-bus.ts';
import type { Notice } from './bus.ts';

/** What a bus does when its channel loses, repeats, reorders and falls silent. */
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const SENDER = 0;
const RECEIVER = 1;

/** Two nodes that know each other. */
async function twoNodes() {
  const network = new MemoryNetwork();
  const [sender, receiver] = [
    new NodeBus((events) => network.open(events)),
    new NodeBus((events) => network.open(events)),
  ];
  const heard: Notice[] = [];
  let gaps = 0;
  receiver.subscribe((notice) => heard.push(notice));
  await wait(1000);
  receiver.onGap(() => (gaps += 1));
  /** Sends a notice on its own: the next one can leave at once. */
  const say = async (id: string): Promise<void> => {
    sender.publish({ kind: 'session', id });
    await wait(50);
  };
  const ids = (): string[] => heard.flatMap((notice) => (notice.kind === 'session' ? [notice.id] : []));
  return { network, sender, receiver, heard, say, ids, gaps: () => gaps };
}

const isNotice = (text: string): boolean => readMessage(text)?.notice !== undefined;

test('notices arrive once, in order, and not at their sender', async () => {
  const { sender, receiver, ids, gaps } = await twoNodes();
  const own: Notice[] = [];
  sender.subscribe((notice) => own.push(notice));
  for (const id of ['a', 'b', 'c']) sender.publish({ kind: 'session', id });
  await wait(5000);
  expect([ids(), own, gaps(), sender.isHealthy, receiver.isHealthy]).toEqual([['a', 'b', 'c'], [], 0, true, true]);
});

test('captures of one turn are one notice, before a notice about their endpoint', async () => {
  const { sender, heard } = await twoNodes();
  for (const index of [4, 6, 5]) sender.captured(7, index);
  sender.captured(8, 1);
  sender.publish({ kind: 'saved', endpointId: 7, indexes: [1] });
  await wait(1);
  expect(heard).toEqual([
    {
      kind: 'captured',
      newest: [
        [7, 6],
        [8, 1],
      ],
    },
    { kind: 'saved', endpointId: 7, indexes: [1] },
  ]);
});

test('deliveries of one turn are one notice of their endpoint, after the captures', async () => {
  const { sender, heard } = await twoNodes();
  const delivered = (endpointId: number, ...deliveries: [number, number][]) =>
    sender.publish({ kind: 'delivered', endpointId, deliveries });
  delivered(7, [4, 11], [4, 0]);
  delivered(8, [1, 12]);
  delivered(7, [3, 13]);
  sender.captured(7, 4);
  sender.publish({ kind: 'deleted', endpointId: 7, ids: [4] });
  await wait(1);
  expect(heard.map((notice) => JSON.stringify(notice))).toEqual([
    '{"kind":"captured","newest":[[7,4]]}',
    '{"kind":"delivered","endpointId":7,"deliveries":[[4,11],[4,0],[3,13]]}',
    '{"kind":"delivered","endpointId":8,"deliveries":[[1,12]]}',
    '{"kind":"deleted","endpointId":7,"ids":[4]}',
  ]);
});

describe('a node alone', () => {
  test('sends no notices', async () => {
    const network = new MemoryNetwork();
    const alone = new NodeBus((events) => network.open(events));
    await wait(1000);
    let sent = 0;
    network.fault = (text) => {
      if (isNotice(text)) sent += 1;
      return [text];
    };
    alone.publish({ kind: 'session', id: 'a' });
    alone.captured(7, 1);
    await wait(2000);
    expect([sent, alone.isHealthy]).toEqual([0, true]);
  });

  test('a node that joins sees the notices that were not sent as a gap', async () => {
    const network = new MemoryNetwork();
    const first = new NodeBus((events) => network.open(events));
    await wait(1000);
    network.fault = (text, to) => (to === 0 && !text.includes(first.node) ? [] : [text]);
    const second = new NodeBus((events) => network.open(events));
    const heard: Notice[] = [];
    let gaps = 0;
    second.subscribe((notice) => heard.push(notice));
    await wait(1000);
    second.onGap(() => (gaps += 1));
    first.captured(7, 1);
    await wait(600);
    expect([heard, gaps]).toEqual([[], 1]);
    network.fault = (text) => [text];
    await wait(600);
    first.captured(7, 2);
    await wait(50);
    expect([heard, gaps]).toEqual([[{ kind: 'captured', newest: [[7, 2]] }], 1]);
  });
});

test('messages stay under 8,000 bytes however many endpoints a batch has, and deliveries or changed requests an endpoint', async () => {
  const { network, sender, heard } = await twoNodes();
  let longest = 0;
  network.fault = (text) => {
    longest = Math.max(longest, text.length);
    return [text];
  };
  for (let id = 0; id < 1000; id += 1) sender.captured(2 ** 52 + id, 2 ** 31);
  const deliveries = Array.from({ length: 1000 }, (_, id): [number, number] => [2 ** 31, 2 ** 52 + id]);
  sender.publish({ kind: 'delivered', endpointId: 2 ** 52, deliveries });
  const ids = Array.from({ length: 1000 }, (_, id) => 2 ** 52 + id);
  sender.publish({ kind: 'deleted', endpointId: 2 ** 52, ids });
  const indexes = Array.from({ length: 1000 }, (_, nth) => 2 ** 31 + nth);
  sender.publish({ kind: 'saved', endpointId: 2 ** 52, indexes });
  await wait(1);
  expect(heard.flatMap((notice) => (notice.kind === 'saved' ? notice.indexes : []))).toEqual(indexes);
  expect(heard.flatMap((notice) => (notice.kind === 'deleted' ? notice.ids : []))).toEqual(ids);
  expect(heard.flatMap((notice) => (notice.kind === 'captured' ? notice.newest : []))).toHaveLength(1000);
  expect(heard.flatMap((notice) => (notice.kind === 'delivered' ? notice.deliveries : []))).toEqual(deliveries);
  expect(longest).toBeGreaterThan(1000);
  expect(longest).toBeLessThan(8000);
});

describe('faults', () => {
  test('a lost notice is a gap with the next notice', async () => {
    const { network, say, ids, gaps } = await twoNodes();
    network.fault = (text) => (isNotice(text) ? [] : [text]);
    await say('lost');
    network.fault = (text) => [text];
    expect(gaps()).toBe(0);
    await say('next');
    expect([ids(), gaps()]).toEqual([['next'], 1]);
  });

  test('a lost notice is a gap with the next heartbeat', async () => {
    const { network, say, ids, gaps } = await twoNodes();
    network.fault = (text, to) => (to === RECEIVER && isNotice(text) ? [] : [text]);
    await say('lost');
    await wait(500);
    expect([ids(), gaps()]).toEqual([[], 1]);
    await wait(5000);
    expect(gaps()).toBe(1);
  });

  test('a repeated notice is delivered once', async () => {
    const { network, say, ids, gaps } = await twoNodes();
    network.fault = (text) => [text, text];
    for (const id of ['a', 'b']) await say(id);
    await wait(5000);
    expect([ids(), gaps()]).toEqual([['a', 'b'], 0]);
  });

  test('a notice that is overtaken is covered by the gap of the later one', async () => {
    const { network, say, ids, gaps } = await twoNodes();
    let held: string | undefined;
    network.fault = (text, to) => {
      if (to !== RECEIVER || !isNotice(text)) return [text];
      if (held === undefined) {
        held = text;
        return [];
      }
      return [text, held];
    };
    await say('first');
    await say('second');
    expect([ids(), gaps()]).toEqual([['second'], 1]);
  });

  test('text that is not a message is ignored', async () => {
    const { network, say, ids, gaps } = await twoNodes();
    network.fault = (text) => ['', '{', '{"n":1}', '{"n":"x","s":1,"notice":{"kind":"unknown"}}', text];
    await say('a');
    expect([ids(), gaps()]).toEqual([['a'], 0]);
  });
});

describe('silence', () => {
  test('a node that misses two heartbeats: a gap, and unhealthy until it is back or forgotten', async () => {
    const { network, receiver, gaps } = await twoNodes();
    const { fault } = network;
    network.fault = (text, to) => (to === RECEIVER && !text.includes(receiver.node) ? [] : [text]);
    await wait(1300);
    expect([receiver.isHealthy, receiver.nodeCount, gaps()]).toEqual([false, 2, 1]);
    network.fault = fault;
    await wait(600);
    expect([receiver.isHealthy, receiver.nodeCount, gaps()]).toEqual([true, 2, 1]);
    network.fault = (text, to) => (to === RECEIVER && !text.includes(receiver.node) ? [] : [text]);
    await wait(70_000);
    expect([receiver.isHealthy, receiver.nodeCount, gaps()]).toEqual([true, 1, 2]);
  });

  test('a channel that delivers nothing: a gap, unhealthy, and its connection is replaced', async () => {
    const { network, receiver, gaps } = await twoNodes();
    network.fault = (text, to) => (to === RECEIVER ? [] : [text]);
    await wait(1300);
    expect([receiver.isHealthy, network.revived]).toEqual([false, 1]);
    expect(gaps()).toBeGreaterThan(0);
    const before = gaps();
    network.fault = (text) => [text];
    await wait(600);
    expect([receiver.isHealthy, gaps() > before]).toEqual([true, true]);
  });

  test('the notices of a node whose channel is down are a gap for the others when it is back', async () => {
    const { network, sender, say, ids, gaps } = await twoNodes();
    network.fault = (text, to) => (to === SENDER ? [] : [text]);
    await wait(1300);
    expect(sender.isHealthy).toBe(false);
    const before = gaps();
    await say('unheard');
    network.fault = (text) => [text];
    await wait(600);
    expect([ids(), gaps() > before]).toEqual([[], true]);
  });

  test('a node that stops in good order leaves no gap', async () => {
    const { sender, receiver, gaps } = await twoNodes();
    const closing = sender.close();
    await wait(600);
    await closing;
    await wait(5000);
    expect([receiver.isHealthy, gaps()]).toEqual([true, 0]);
  });

  test('a process that was stalled does not count the others as lost', async () => {
    const { receiver, gaps } = await twoNodes();
    // The next heartbeat is due in 400 ms.
    await wait(100);
    const clock = vi.spyOn(performance, 'now');
    const before = performance.now();
    clock.mockImplementation(() => before + 3000);
    await wait(100);
    clock.mockImplementation(() => before + 3100);
    await wait(100);
    expect([receiver.isHealthy, gaps()]).toEqual([true, 0]);
    clock.mockRestore();
  });
});

test('a node alone with its database is always healthy', async () => {
  localBus.publish({ kind: 'session', id: 'a' });
  expect(localBus.isHealthy).toBe(true);
  await localBus.close();
});
