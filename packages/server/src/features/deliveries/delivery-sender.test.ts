import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { encodeHead } from '../../database/stored-request.ts';
import type { Attempt, DueDelivery, ActiveDestination } from './attempt-queries.ts';
import { DeliverySender } from './delivery-sender.ts';

const DESTINATION = {
  id: 1,
  endpointId: 1,
  userId: 1,
  url: 'http://127.0.0.1:9/',
  appendPath: false,
  enabled: true,
  query: '',
  sign: false,
  signingScheme: null,
  pausedAt: null,
  pauseReason: null,
  recentStatuses: [],
  createdAt: 0,
  dueAt: 0,
};
const MIB = 1024 * 1024;
const HEAD = Buffer.from(encodeHead('/', '127.0.0.1', true, []));

/** Queries of a store with one destination. */
const STORE = {
  shared: true,
  dueDestinations: async () => [1],
  claimDestinations: async () => [1],
  renewLeases: async () => [1],
  releaseLeases: async () => undefined,
  correctDueAt: async () => undefined,
  shortenWaits: async () => undefined,
  findActiveDestination: async (): Promise<ActiveDestination | undefined> => ({ ...DESTINATION, failures: 0 }),
  findWhole: async (endpointId: number, index: number) => ({
    endpointId,
    index,
    savedId: null,
    method: 'POST',
    receivedAt: 0,
    head: HEAD,
    body: null,
    size: 0,
  }),
};
/** Options of a sender to targets that respond at once with `status`. */
const sendingOptions = (status: number) => ({
  forward: async () => ({
    status,
    statusText: '',
    headers: [],
    body: Buffer.alloc(0),
    isCut: false,
    durationMs: 1,
  }),
  signerOf: async () => undefined,
  mark: 'mark',
  now: () => 0,
  onRecorded: () => undefined,
  onHeldElsewhere: () => undefined,
  onFailure: (error: unknown) => expect.unreachable(String(error)),
});

/**
 * A sender with `count` due deliveries to a destination that responds at once. `store` stores the first attempts that
 * wait, `storeAll` also all later ones.
 */
function startSender({ count, status }: { readonly count: number; readonly status: number }) {
  let due: DueDelivery[] = Array.from({ length: count }, (_, index) => ({
    id: `${index}`,
    index,
    attempts: 0,
    size: 0,
  }));
  let failures = 0;
  const sent: number[] = [];
  /** The number of deliveries that each read returned. */
  const reads: number[] = [];
  const writes: (() => void)[] = [];
  const storeAttempts = (attempts: readonly Attempt[]): void => {
    due = due.filter(({ id }) => !attempts.some(({ deliveryId }) => deliveryId === id));
    if (status !== 200) failures += attempts.length;
  };
  const sender = new DeliverySender({
    ...sendingOptions(status),
    store: {
      ...STORE,
      async dueDeliveries(_, unfinished, { limit }) {
        const deliveries = due.filter(({ id }) => !unfinished.includes(id)).slice(0, limit);
        reads.push(deliveries.length);
        return { destination: { ...DESTINATION, failures }, deliveries };
      },
      findWhole(endpointId, index) {
        sent.push(index);
        return STORE.findWhole(endpointId, index);
      },
      async recordAttempts(attempts) {
        await new Promise<void>((resolve) => writes.push(resolve));
        storeAttempts(attempts);
        return [];
      },
    },
  });
  const store = async (): Promise<void> => {
    await expect.poll(() => writes.length).toBe(1);
    writes.pop()?.();
  };
  let timer: NodeJS.Timeout | undefined;
  const storeAll = (): void => {
    timer ??= setInterval(() => writes.pop()?.(), 5);
  };
  onTestFinished(async () => {
    storeAll();
    await sender.stop(0);
    clearInterval(timer);
  });
  sender.wake();
  return { sent, reads, store, storeAll };
}

afterEach(() => {
  vi.useRealTimers();
});

const numbers = (count: number): number[] => Array.from({ length: count }, (_, nth) => nth);

test('a failing destination gets ten deliveries, and then two at a time with a pause', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const { sent, store, storeAll } = startSender({ count: 30, status: 500 });
  await expect.poll(() => sent).toEqual(numbers(10));
  await store();
  await expect.poll(() => sent).toEqual(numbers(11));
  storeAll();
  await expect.poll(() => sent).toEqual(numbers(13));
  await sleep(50);
  expect(sent).toEqual(numbers(13));
  vi.advanceTimersByTime(1000);
  await expect.poll(() => sent).toEqual(numbers(15));
});

test('deliveries are not read again when none was left', async () => {
  const { sent, reads, storeAll } = startSender({ count: 5, status: 200 });
  storeAll();
  await expect.poll(() => sent).toEqual(numbers(5));
  await sleep(50);
  expect(reads).toEqual([5]);
});

test('a destination does not wait for others that are idle', async () => {
  /** Destinations with a delivery that is due. */
  const due = new Set(Array.from({ length: 501 }, (_, nth) => nth + 1));
  const claimed = new Set<number>();
  const sent: number[] = [];
  const sender = new DeliverySender({
    ...sendingOptions(200),
    store: {
      ...STORE,
      dueDestinations: async (_, __, limit) => [...due].slice(0, limit),
      async claimDestinations(ids) {
        for (const id of ids) claimed.add(id);
        return [...ids];
      },
      async releaseLeases(_, ids = [...claimed]) {
        for (const id of ids) claimed.delete(id);
      },
      renewLeases: async () => [...claimed],
      dueDeliveries: async (id, unfinished) => ({
        destination: { ...DESTINATION, id, failures: 0 },
        deliveries: due.has(id) && unfinished.length === 0 ? [{ id: `${id}`, index: id, attempts: 0, size: 0 }] : [],
      }),
      async recordAttempts(attempts) {
        for (const { index } of attempts) {
          sent.push(index);
          due.delete(index);
        }
        return [];
      },
    },
  });
  onTestFinished(() => sender.stop(0));
  await expect
    .poll(() => {
      sender.wake();
      return sent.length;
    })
    .toBe(501);
  expect(claimed.size).toBe(500);
});

test('a delivery that waited for its turn goes to the present URL, and nowhere if it has ended', async () => {
  // Only two of this size of a user are sent at a time.
  const deliveries = numbers(4).map((index) => ({ id: `${index}`, index, attempts: 0, size: 10 * MIB }));
  const { promise: answered, resolve: answerAll } = Promise.withResolvers<void>();
  const urls: string[] = [];
  const recorded: string[] = [];
  let isMoved = false;
  const options = sendingOptions(200);
  const sender = new DeliverySender({
    ...options,
    store: {
      ...STORE,
      dueDeliveries: async (_, unfinished) => ({
        destination: { ...DESTINATION, failures: 0 },
        deliveries: deliveries.filter(({ id }) => !unfinished.includes(id) && !recorded.includes(id)),
      }),
      async findActiveDestination(id) {
        if (!isMoved) return { ...DESTINATION, failures: 0 };
        return id === '3' ? undefined : { ...DESTINATION, failures: 0, url: 'http://127.0.0.1:9/new' };
      },
      async recordAttempts(attempts) {
        recorded.push(...attempts.map(({ deliveryId }) => deliveryId));
        return [];
      },
    },
    async forward({ url }) {
      urls.push(url);
      await answered;
      return options.forward();
    },
  });
  onTestFinished(() => sender.stop(0));
  sender.wake();
  await expect.poll(() => urls.length).toBe(2);
  isMoved = true;
  answerAll();
  await expect.poll(() => recorded).toEqual(['0', '1', '2']);
  expect(urls).toEqual([DESTINATION.url, DESTINATION.url, 'http://127.0.0.1:9/new']);
});

test('a destination does not wait for 500 others whose targets hang', async () => {
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  let clock = 0;
  const hangs = Promise.withResolvers<void>();
  const claimed = new Set<number>();
  /** The destinations in the order of their last lease. */
  let ids = numbers(600);
  const sent: number[] = [];
  const options = sendingOptions(200);
  const sender = new DeliverySender({
    ...options,
    store: {
      ...STORE,
      dueDestinations: async (_, __, limit) =>
        ids.toSorted((a, b) => Number(claimed.has(b)) - Number(claimed.has(a))).slice(0, limit),
      async claimDestinations(wanted) {
        for (const id of wanted) claimed.add(id);
        return [...wanted];
      },
      async releaseLeases(_, released = [...claimed]) {
        for (const id of released) claimed.delete(id);
        ids = [...ids.filter((id) => !released.includes(id)), ...released];
      },
      renewLeases: async () => [...claimed],
      // Six users have 100 each.
      dueDeliveries: async (id, unfinished) => ({
        destination: { ...DESTINATION, id, userId: Math.floor(id / 100), failures: 0 },
        deliveries: unfinished.length > 0 ? [] : [{ id: `${id}`, index: id, attempts: 0, size: 0 }],
      }),
      findActiveDestination: async (id) => ({
        ...DESTINATION,
        id: Number(id),
        failures: 0,
        url: `http://127.0.0.1:9/${id}`,
      }),
      recordAttempts: async () => [],
    },
    async forward({ url }) {
      sent.push(Number(url.split('/').at(-1)));
      await hangs.promise;
      return options.forward();
    },
  });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    const stopped = sender.stop(0);
    hangs.resolve();
    await stopped;
  });
  sender.wake();
  // Of the 256 slots, each user gets a fifth of those that the others leave, rounded up.
  await expect.poll(() => sent.length).toBe(52 + 41 + 33 + 26 + 21);
  expect(sent.some((id) => id >= 500)).toBe(false);
  clock = 4000;
  // Each of them is claimed, while those with a request on its way keep their slots.
  await expect
    .poll(() => {
      sender.wake();
      return numbers(100).every((nth) => claimed.has(500 + nth));
    })
    .toBe(true);
  expect(sent.every((id) => claimed.has(id))).toBe(true);
  expect(claimed.size).toBe(500);
});

test.each([
  [25 * MIB, 4],
  [10 * MIB, 10],
  [MIB + 1, 50],
  [300_000, 100],
])('of 120 users with targets that hang, bodies of %i bytes are sent to %i at a time', async (size, count) => {
  const hangs = Promise.withResolvers<void>();
  const options = sendingOptions(200);
  let sending = 0;
  const sender = new DeliverySender({
    ...options,
    store: {
      ...STORE,
      dueDestinations: async () => numbers(120),
      claimDestinations: async (ids) => [...ids],
      dueDeliveries: async (id, unfinished) => ({
        destination: { ...DESTINATION, id, userId: id, failures: 0 },
        deliveries: unfinished.length > 0 ? [] : [{ id: `${id}`, index: id, attempts: 0, size }],
      }),
      recordAttempts: async () => [],
    },
    async forward() {
      sending += 1;
      await hangs.promise;
      return options.forward();
    },
  });
  onTestFinished(async () => {
    const stopped = sender.stop(0);
    hangs.resolve();
    await stopped;
  });
  sender.wake();
  await expect.poll(() => sending).toBe(count);
  await sleep(50);
  expect(sending).toBe(count);
});

test.each([
  ['another process has the lease', true],
  ['the lease has expired', false],
])('deliveries that wait for their turn are not sent when %s', async (_, isKnown) => {
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const { promise: answered, resolve: answerAll } = Promise.withResolvers<void>();
  const urls: string[] = [];
  let recorded = 0;
  let isLost = false;
  let lostRenewals = 0;
  const options = sendingOptions(200);
  const sender = new DeliverySender({
    ...options,
    store: {
      ...STORE,
      dueDestinations: async () => (isLost ? [] : [1]),
      async renewLeases() {
        if (isLost) lostRenewals += 1;
        return isLost ? [] : [1];
      },
      // Two of them have their turn.
      dueDeliveries: async (__, unfinished) => ({
        destination: { ...DESTINATION, failures: 0 },
        deliveries: numbers(3 - unfinished.length).map((index) => ({
          id: `${index}`,
          index,
          attempts: 0,
          size: 10 * MIB,
        })),
      }),
      async recordAttempts(attempts) {
        recorded += attempts.length;
        return [];
      },
    },
    async forward({ url }) {
      urls.push(url);
      await answered;
      return options.forward();
    },
  });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await sender.stop(0);
  });
  sender.wake();
  await expect.poll(() => urls.length).toBe(2);
  isLost = true;
  clock = 20_000;
  if (isKnown) sender.wake();
  await expect.poll(() => lostRenewals).toBe(isKnown ? 1 : 0);
  answerAll();
  await expect.poll(() => recorded).toBe(2);
  await sleep(50);
  expect(urls).toHaveLength(2);
});
