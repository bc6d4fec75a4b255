import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { encodeHead } from '../../database/stored-request.ts';
import type { Attempt, DueDelivery } from './attempt-queries.ts';
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
const HEAD = Buffer.from(encodeHead('/', '127.0.0.1', true, []));

/** A sender with `count` due deliveries to a destination that responds at once. `store` stores the first attempts that wait, `storeAll` also all later ones. */
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
    store: {
      shared: true,
      dueDestinations: async () => [{ id: 1, isOwn: false }],
      claimDestinations: async () => [1],
      renewLeases: async () => [1],
      releaseLeases: async () => undefined,
      settleDueAt: async () => undefined,
      shortenWaits: async () => undefined,
      async dueDeliveries(_, unfinished, { limit }) {
        const deliveries = due.filter(({ id }) => !unfinished.includes(id)).slice(0, limit);
        reads.push(deliveries.length);
        return { destination: { ...DESTINATION, failures }, deliveries };
      },
      async findCapture(endpointId, index) {
        sent.push(index);
        return { endpointId, index, savedId: null, method: 'POST', receivedAt: 0, head: HEAD, body: null, size: 0 };
      },
      async recordAttempts(attempts) {
        await new Promise<void>((resolve) => writes.push(resolve));
        storeAttempts(attempts);
        return [];
      },
    },
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
    onFailure: (error) => expect.unreachable(String(error)),
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
