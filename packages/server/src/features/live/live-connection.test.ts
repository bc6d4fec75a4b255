import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { unsavedId } from '@creel/contract';
import { sampleEndpoint } from '../../../../../fixtures/sample-endpoint.ts';
import { eventsOf } from './live-events.ts';
import type { EndpointMessage } from './live-events.ts';
import { presentPreview } from '../requests/service.ts';
import { newLiveViewer, newViewer, record, stored, wait } from '../../../test/fake-viewer.ts';
import { newLiveMemory } from './live-connection.ts';
import type { LiveConnection } from './live-connection.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const MIB = 1024 * 1024;

const endpoint = (requestCount: number): EndpointMessage => ({
  type: 'endpoint',
  data: sampleEndpoint({ requestCount }),
});

describe('between the snapshot and the following events', () => {
  test('init comes first, then what arrived during its read, in order', async () => {
    const { viewer, snapshot, sent } = newViewer();
    viewer.start();
    viewer.take(stored(2));
    viewer.take(stored(3));
    await snapshot(1, 0);
    expect(sent).toEqual(['init 1 0', '2', '3']);
  });

  test('requests in the snapshot are not sent again', async () => {
    const { viewer, snapshot, sent } = newViewer();
    viewer.start();
    viewer.take(stored(1));
    viewer.take(stored(2));
    await snapshot(1, 0);
    expect(sent).toEqual(['init 1 0', '2']);
  });

  test('requests in the snapshot that are published after it was sent are not sent again', async () => {
    const { viewer, sent } = await newLiveViewer(2, 1, 0);
    viewer.take(stored(2));
    viewer.take(stored(3));
    await wait();
    expect(sent).toEqual(['3']);
  });

  test('saved and deleted events during the read are sent after it', async () => {
    const { viewer, snapshot, sent } = newViewer();
    viewer.start();
    viewer.take({
      type: 'saved',
      data: { oldId: unsavedId(1), request: presentPreview({ ...record(1), savedId: 5 }) },
    });
    viewer.take({ type: 'deleted', data: { id: 5 } });
    await snapshot(1, 0);
    expect(sent).toEqual(['init 1 0', 'saved 1', 'deleted 5']);
  });

  test('a clear during the read: the snapshot is read again, so that later requests are kept', async () => {
    const { viewer, snapshot, sent } = newViewer();
    viewer.start();
    viewer.take(stored(2));
    viewer.take({ type: 'clear', below: 3 });
    viewer.take(stored(3));
    await snapshot(3, 2, 1);
    expect(sent).toEqual([]);
    viewer.take(stored(4));
    await snapshot(3);
    expect(sent).toEqual(['init 3', '4']);
  });
});

describe('while live', () => {
  test('every kind of event is sent once, in order', async () => {
    const { viewer, sent } = await newLiveViewer(0);
    viewer.take(stored(1));
    viewer.take({
      type: 'saved',
      data: { oldId: unsavedId(1), request: presentPreview({ ...record(1), savedId: 9 }) },
    });
    viewer.take({ type: 'deleted', data: { id: 9 } });
    viewer.take({ type: 'clear', below: 2 });
    viewer.take(stored(2));
    await wait();
    expect(sent).toEqual(['1', 'saved 1', 'deleted 9', 'clear', '2']);
  });

  test('saved requests are looked up, and one that was deleted before is reported with the id that viewers know', async () => {
    const { viewer, sent } = await newLiveViewer(2, 1, 0);
    const reader = {
      store: { findSome: () => Promise.resolve([{ ...record(2), savedId: 9 }]) },
      findDeliveries: () => Promise.resolve([]),
    };
    for (const event of eventsOf({ kind: 'saved', endpointId: 1, indexes: [1, 2] }, reader)) viewer.take(event);
    viewer.take({ type: 'deleted', data: { id: 8 } });
    await wait();
    expect(sent).toEqual([`deleted ${unsavedId(1)}`, 'saved 2', 'deleted 8']);
  });

  test('a burst of 900 is sent in order, in several flushes', async () => {
    const { viewer, sent } = await newLiveViewer();
    for (let index = 0; index < 900; index += 1) viewer.take(stored(index));
    await wait(1);
    expect(sent.length).toBeLessThan(900);
    await wait(1000);
    expect(sent).toEqual(Array.from({ length: 900 }, (_, index) => String(index)));
  });

  test('an event after a pause is sent at once; events within 16 ms are sent together', async () => {
    const { viewer, sent } = await newLiveViewer();
    await wait(100);
    const goneAfter: number[] = [];
    for (let ms = 0; ms < 40; ms += 1) {
      viewer.take(stored(ms));
      await wait(1);
      goneAfter.push(sent.length);
    }
    expect([goneAfter[0], new Set(goneAfter).size]).toEqual([1, 3]);
    await wait(20);
    expect(sent).toEqual(Array.from({ length: 40 }, (_, index) => String(index)));
  });

  test('10 MiB one after another are no backlog', async () => {
    const { viewer, sent, reads } = await newLiveViewer();
    for (let index = 0; index < 640; index += 1) {
      viewer.take(stored(index, 'x'.repeat(16 * 1024)));
      if (index % 2 === 1) await wait(1);
    }
    await wait(1000);
    expect(sent).toHaveLength(640);
    expect(reads()).toBe(0);
  });

  test("an event that can't be presented is omitted and reported; the next ones follow", async () => {
    const { viewer, sent, failures } = await newLiveViewer();
    const broken = new Error('broken head');
    const present = () => {
      throw broken;
    };
    viewer.take({ type: 'request', index: 0, bytes: 1, present });
    viewer.take(stored(1));
    await wait();
    expect(sent).toEqual(['1']);
    expect(failures).toEqual([broken]);
  });

  test('after the stop nothing is sent, also if something was in progress', async () => {
    const { viewer, sent, snapshot, reads } = newViewer();
    viewer.start();
    viewer.take(stored(1));
    viewer.stop();
    await snapshot(0);
    viewer.take(stored(2));
    viewer.takeEndpoint(endpoint(1));
    await wait(10_000);
    expect(sent).toEqual([]);
    expect(reads()).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('stopped with waiting frames: none is sent, and no timer stays', async () => {
    const { viewer, sent } = await newLiveViewer();
    viewer.take(stored(0));
    viewer.stop();
    expect(vi.getTimerCount()).toBe(0);
    await wait(1000);
    expect(sent).toEqual([]);
  });
});

describe("the endpoint's own message", () => {
  test('comes while live', async () => {
    const { viewer, sent } = await newLiveViewer();
    viewer.takeEndpoint(endpoint(5));
    await wait();
    expect(sent).toEqual(['endpoint 5']);
  });

  test('never before init, and connecting does not lose the last one', async () => {
    const { viewer, sent, snapshot } = newViewer();
    viewer.start();
    viewer.takeEndpoint(endpoint(1));
    viewer.takeEndpoint(endpoint(2));
    await snapshot(0);
    expect(sent).toEqual(['init 0', 'endpoint 2']);
  });

  test('the last one reaches a viewer that fell behind too', async () => {
    const { viewer, sent, snapshot } = await newLiveViewer();
    for (let index = 0; index < 1200; index += 1) viewer.take(stored(index));
    viewer.takeEndpoint(endpoint(1200));
    await wait(300);
    await snapshot(1199);
    expect(sent).toEqual(['init 1199', 'endpoint 1200']);
  });
});

describe('a viewer that does not read', () => {
  /** Captures of 16 KiB each, 100 every 10 ms. */
  async function storm(viewer: LiveConnection, from: number, rounds: number): Promise<number> {
    let index = from;
    for (let round = 0; round < rounds; round += 1) {
      for (let count = 0; count < 100; count += 1) viewer.take(stored(index++, 'x'.repeat(16 * 1024)));
      await wait(10);
    }
    return index;
  }

  test('is sent about 1 MiB and then nothing, and no snapshot is read for it', async () => {
    const { viewer, stopReading, maxPending, reads } = await newLiveViewer();
    stopReading();
    await storm(viewer, 0, 100);
    expect(maxPending()).toBeGreaterThan(MIB);
    expect(maxPending()).toBeLessThan(1.1 * MIB);
    expect(reads()).toBe(0);
  });

  test('leaves no memory when it is closed with unread data', async () => {
    const memory = newLiveMemory();
    const { viewer, snapshot, stopReading } = newViewer(memory);
    viewer.start();
    await snapshot(0);
    stopReading();
    await storm(viewer, 1, 2);
    expect(memory.budget.used).toBeGreaterThan(MIB / 2);
    viewer.release();
    expect(memory.budget.used).toBe(0);
  });

  test('gets a new init when it reads again, and each request from then on', async () => {
    const { viewer, stopReading, readAgain, sent, snapshot } = await newLiveViewer();
    stopReading();
    const last = (await storm(viewer, 0, 100)) - 1;
    readAgain();
    sent.length = 0;
    await wait(300);
    viewer.take(stored(last + 1));
    await snapshot(last, last - 1);
    viewer.take(stored(last + 2));
    await wait();
    expect(sent).toEqual([`init ${last} ${last - 1}`, String(last + 1), String(last + 2)]);
  });

  test('that reads again before its backlog is full misses nothing and gets no init', async () => {
    const { viewer, stopReading, readAgain, sent } = await newLiveViewer();
    stopReading();
    for (let index = 0; index < 150; index += 1) viewer.take(stored(index, 'x'.repeat(16 * 1024)));
    await wait(1000);
    expect(sent.length).toBeLessThan(150);
    readAgain();
    await wait(1000);
    expect(sent).toEqual(Array.from({ length: 150 }, (_, index) => String(index)));
  });

  test('few but large events count by their bytes: at most 4 MiB wait', async () => {
    const { viewer, stopReading, reads, sent, readAgain, snapshot } = await newLiveViewer();
    stopReading();
    for (let index = 0; index < 400; index += 1) viewer.take(stored(index, 'x'.repeat(16 * 1024)));
    await wait(1000);
    readAgain();
    await wait(300);
    expect(reads()).toBe(1);
    await snapshot(399);
    expect(sent.at(-1)).toBe('init 399');
  });
});

describe('a viewer that overflows', () => {
  test('gets an init and then each request, without a gap', async () => {
    const { viewer, sent, snapshot } = await newLiveViewer();
    for (let index = 0; index < 1001; index += 1) viewer.take(stored(index));
    await wait(300);
    await snapshot(1000, 999);
    viewer.take(stored(1001));
    await wait();
    expect(sent).toEqual(['init 1000 999', '1001']);
  });

  test('during its snapshot read: gets that init, then another one', async () => {
    const { viewer, sent, snapshot } = newViewer();
    viewer.start();
    for (let index = 1; index < 1500; index += 1) viewer.take(stored(index));
    await snapshot(0);
    expect(sent).toEqual(['init 0']);
    await wait(300);
    await snapshot(1499);
    expect(sent).toEqual(['init 0', 'init 1499']);
  });
});

describe('storage down', () => {
  test('the snapshot is read again, once a second', async () => {
    const { viewer, sent, snapshot, fail, failures, reads } = newViewer();
    viewer.start();
    await fail();
    await wait(900);
    expect(reads()).toBe(0);
    await wait(200);
    await fail();
    await wait(1100);
    await snapshot(4);
    expect(sent).toEqual(['init 4']);
    expect(failures).toHaveLength(2);
  });
});

test('after a frame that breaks the protocol, nothing more is read', async () => {
  const { breakProtocol, isPaused } = await newLiveViewer();
  breakProtocol();
  // `ws` resumes the socket in the same tick.
  expect(isPaused()).toBe(false);
  await wait();
  expect(isPaused()).toBe(true);
});
