import { ApiError } from '@creel/contract';
import type { Client } from '@creel/contract';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { sampleRequest } from '../../../fixtures/sample-request.ts';
import { DeliveryReports } from './delivery-reports.ts';
import type { SendResult } from './send-capture.ts';

const ANSWERED: SendResult = {
  kind: 'answered',
  status: 201,
  statusText: 'Created',
  headers: [['X-A', '1']],
  beginning: Buffer.from('grün'),
  isCut: false,
  durationMs: 7,
};

/** The first attempt to send a capture. */
const attemptAt = (index: number, result: SendResult = ANSWERED) => ({
  request: sampleRequest(index),
  url: 'http://127.0.0.1/a',
  number: 1,
  startedAt: 0,
  result,
});

type Call = (name: string, input: { readonly params?: unknown; readonly body?: unknown }) => Promise<never>;

/** Reports that are sent by this call. */
function reportsBy(call: Call, options: Partial<ConstructorParameters<typeof DeliveryReports>[0]> = {}) {
  const client: Client = { call, callWithHeaders: call };
  return new DeliveryReports({ client, uid: 'uid', notify: async () => {}, ...options });
}

/** Reports whose calls end as `outcomes` say, and then well. */
function world(outcomes: readonly (ApiError | undefined)[] = []) {
  const bodies: Record<string, unknown>[] = [];
  const told: string[] = [];
  let calls = 0;
  const call: Call = async (name, input) => {
    const outcome = outcomes[calls++];
    if (outcome !== undefined) throw outcome;
    bodies.push({ name, ...(typeof input.body === 'object' ? input.body : {}) });
    return undefined as never;
  };
  const notify = async (sentence: string): Promise<void> => void told.push(sentence);
  const reports = reportsBy(call, { notify, retryMs: 1 });
  const add = (index: number, result?: SendResult): void => reports.add(attemptAt(index, result));
  return { reports, add, bodies, told, callCount: () => calls };
}

test('reports the response as it came, or why there was none', async () => {
  const { reports, add, bodies } = world();
  add(0);
  add(1, { ...ANSWERED, beginning: Buffer.of(0xff) });
  add(2, { kind: 'unreached', reason: 'nothing listens there', durationMs: 1 });
  add(3, { ...ANSWERED, isCut: true, statusText: 'r'.repeat(3000) });
  await reports.flush(10_000);
  expect(bodies).toEqual([
    expect.objectContaining({
      name: 'reportDelivery',
      url: 'http://127.0.0.1/a',
      attempt: 1,
      status: 201,
      statusText: 'Created',
      error: null,
      durationMs: 7,
      at: '1970-01-01T00:00:00.000Z',
      responseHeaders: [{ key: 'X-A', value: '1' }],
      responseBody: 'grün',
      responseBodyEncoding: 'utf8',
      responseTruncated: false,
    }),
    expect.objectContaining({ responseBody: '/w==', responseBodyEncoding: 'base64' }),
    expect.objectContaining({ status: null, error: 'Nothing listens there.' }),
    expect.objectContaining({ responseTruncated: true, statusText: 'r'.repeat(1000) }),
  ]);
});

test('tells once that the server refuses the time of the results', async () => {
  const refusal = new ApiError(400, 'Invalid input', {
    fields: { at: 'at must be between the time of the capture and now' },
  });
  const { reports, add, told, bodies } = world([refusal, refusal]);
  for (let index = 0; index < 3; index += 1) add(index);
  await reports.flush(10_000);
  expect(bodies).toHaveLength(1);
  expect(told).toEqual([
    "The clocks of this machine and the server differ by more than a day, so the server's pages don't show the results.",
  ]);
});

test('cuts a text between whole characters', async () => {
  const { reports, add, bodies } = world();
  add(0, { ...ANSWERED, beginning: Buffer.from('grün').subarray(0, 3), isCut: true });
  await reports.flush(10_000);
  expect(bodies).toMatchObject([{ responseBody: 'gr', responseBodyEncoding: 'utf8' }]);
});

test('a whole response that ends within a character is not text', async () => {
  const { reports, add, bodies } = world();
  add(0, { ...ANSWERED, beginning: Buffer.of(0x61, 0xe2) });
  await reports.flush(10_000);
  expect(bodies).toMatchObject([{ responseBody: 'YeI=', responseBodyEncoding: 'base64' }]);
});

test('waits while the server is away, and goes on after a rejected report', async () => {
  const away = [0, 200, 302, 408, 425, 429, 503].map((status) => new ApiError(status, 'away'));
  const { reports, add, bodies, told } = world([...away, undefined, new ApiError(400, 'bad')]);
  add(0);
  add(1);
  add(2);
  await reports.flush(10_000);
  expect(bodies).toHaveLength(2);
  expect(told).toEqual([]);
});

test.each([new ApiError(404, 'nothing', { code: 'NOT_FOUND' }), new ApiError(405, 'nothing')])(
  'a server without the call ($status) gets no further reports, and the user is informed once',
  async (answer) => {
    const { reports, add, told, callCount } = world([answer]);
    add(0);
    add(1);
    await expect.poll(() => told.length).toBe(1);
    add(2);
    await reports.flush(10_000);
    expect([told.length, callCount()]).toEqual([1, 1]);
  },
);

test('keeps the newest reports', async () => {
  const { reports, add, bodies, told } = world([new ApiError(0, 'away')]);
  for (let index = 0; index < 3000; index += 1) add(index, { ...ANSWERED, status: 200 + (index < 2000 ? 0 : 1) });
  await reports.flush(30_000);
  expect(bodies.map(({ status }) => status)).toEqual(Array.from({ length: 1000 }, () => 201));
  expect(told).toEqual([
    "2,000 results were not reported, because the server did not accept them in time. Its pages don't show them.",
  ]);
});

test('tries again at once at the end', async () => {
  const bodies: unknown[] = [];
  let isAway = true;
  const call: Call = async (_name, { body }) => {
    if (isAway) throw new ApiError(503, 'away');
    bodies.push(body);
    return undefined as never;
  };
  const told: string[] = [];
  const reports = reportsBy(call, { notify: async (sentence) => void told.push(sentence), retryMs: 100_000 });
  reports.add(attemptAt(0));
  await turnOfTheLoop();
  isAway = false;
  await reports.flush(10_000);
  expect([bodies.length, told]).toEqual([1, []]);
});

test('says how many reports are dropped at the end', async () => {
  const { reports, add, told } = world(Array.from({ length: 1000 }, () => new ApiError(0, 'away')));
  add(0);
  await reports.flush(50);
  expect(told).toEqual([
    "1 result was not reported, because the server did not accept them in time. Its pages don't show them.",
  ]);
});

test('several reports are sent at the same time, but the attempts to send one capture after each other', async () => {
  const sent: string[] = [];
  let open = 0;
  let mostOpen = 0;
  const call: Call = async (_name, { body }) => {
    const { attempt } = z.object({ attempt: z.int() }).parse(body);
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    // Later attempts would overtake earlier ones.
    for (let turn = 10; turn > attempt; turn -= 1) await turnOfTheLoop();
    open -= 1;
    sent.push(String(attempt));
    return undefined as never;
  };
  const reports = reportsBy(call);
  for (let number = 1; number <= 3; number += 1) reports.add({ ...attemptAt(0), number });
  for (let index = 1; index <= 40; index += 1) reports.add({ ...attemptAt(index), number: 4 });
  await reports.flush(10_000);
  expect(sent.filter((number) => number !== '4')).toEqual(['1', '2', '3']);
  expect([sent.length, mostOpen]).toEqual([43, 16]);
});

test('the report about a saved request takes one call', async () => {
  const ids: number[] = [];
  const call: Call = async (_name, { params }) => {
    ids.push(z.object({ id: z.int() }).parse(params).id);
    return undefined as never;
  };
  const reports = reportsBy(call);
  const request = sampleRequest(7, { saved: true });
  reports.add({ ...attemptAt(0), request });
  await reports.flush(10_000);
  expect(ids).toEqual([request.id]);
});

test('no report is dropped if the sender keeps up with the server', async () => {
  let stored = 0;
  const call: Call = async () => {
    await turnOfTheLoop();
    stored += 1;
    return undefined as never;
  };
  const reports = reportsBy(call);
  for (let index = 0; index < 3000; index += 1) {
    await reports.keepUp();
    reports.add(attemptAt(index));
  }
  await reports.flush(30_000);
  expect(stored).toBe(3000);
});

test('forwarding does not wait for a server that takes no reports, but learns soon that it does again', async () => {
  let isAway = true;
  let calls = 0;
  let stored = 0;
  const call: Call = async () => {
    await turnOfTheLoop();
    calls += 1;
    if (isAway) throw new ApiError(503, 'busy');
    stored += 1;
    return undefined as never;
  };
  const reports = reportsBy(call, { retryMs: 1 });
  for (let index = 0; index < 900; index += 1) {
    await reports.keepUp();
    reports.add(attemptAt(index));
  }
  await expect.poll(() => calls).toBeGreaterThan(10 * 16);
  isAway = false;
  await expect.poll(() => stored).toBeGreaterThan(0);
  for (let index = 900; index < 4000; index += 1) {
    await reports.keepUp();
    reports.add(attemptAt(index));
  }
  await reports.flush(30_000);
  expect(stored).toBe(4000);
});

test('goes on while the user is informed of dropped reports', async () => {
  let isAway = true;
  let informed = 0;
  const call: Call = async () => {
    const fails = isAway;
    await turnOfTheLoop();
    if (fails) throw new ApiError(503, 'busy');
    return undefined as never;
  };
  const notify = async (): Promise<void> => {
    // A slow terminal.
    await turnOfTheLoop();
    informed += 1;
  };
  const reports = reportsBy(call, { notify, retryMs: 1 });
  for (let index = 0; index < 1500; index += 1) reports.add(attemptAt(index));
  isAway = false;
  while (informed === 0) {
    await reports.keepUp();
    await turnOfTheLoop();
  }
  await reports.flush(10_000);
  expect(informed).toBe(1);
});

test('ends in time, and sends nothing after its end', async () => {
  const { reports, add, callCount } = world(Array.from({ length: 5000 }, () => new ApiError(0, 'away')));
  for (let index = 0; index < 3000; index += 1) add(index);
  await reports.flush(20);
  const calls = callCount();
  expect(calls).toBeGreaterThan(0);
  add(3000);
  await reports.flush(20);
  expect(callCount()).toBe(calls);
});
