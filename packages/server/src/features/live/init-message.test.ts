import { liveMessageSchema } from '@creel/contract';
import type { LiveMessage } from '@creel/contract';
import { expect, test } from 'vitest';
import type { RequestRecord } from '../../database/stored-request.ts';
import { InitMessage } from './init-message.ts';
import { presentPreview } from '../requests/service.ts';
import { largeRecord, record } from '../../../test/fake-viewer.ts';

const MIB = 1024 * 1024;

function writeOut(records: readonly RequestRecord[]) {
  const failures: unknown[] = [];
  const init = new InitMessage(records, (error) => failures.push(error));
  const first = { bytes: init.bytes, maxPartBytes: init.maxPartBytes };
  const texts: string[] = [];
  const left: number[] = [];
  for (let isLast = false; !isLast; left.push(init.bytes)) {
    const part = init.next();
    texts.push(part.text);
    ({ isLast } = part);
  }
  const message: LiveMessage = liveMessageSchema.parse(JSON.parse(texts.join('')));
  return { ...first, failures, texts, left, data: message.type === 'init' ? message.data : [] };
}

const many = (make: (index: number) => RequestRecord): RequestRecord[] =>
  Array.from({ length: 100 }, (_, at) => make(99 - at));

test('no requests: one part', () => {
  const { texts, data } = writeOut([]);
  expect([texts.length, data]).toEqual([1, []]);
});

test('ordinary requests are presented whole, newest first', () => {
  const records = many((index) => record(index));
  const { data, left } = writeOut(records);
  expect(data).toEqual(records.map(presentPreview));
  expect(left.at(-1)).toBe(0);
});

test('the largest: parts within the announced size, all headers, truncated and marked bodies, at most 8 MiB held', () => {
  const { data, texts, bytes, maxPartBytes } = writeOut(many(largeRecord));
  expect(data.map((request) => [request.index, request.headers['x-6']?.length, request.bodyTruncated])).toEqual(
    Array.from({ length: 100 }, (_, at) => [99 - at, 8000, true]),
  );
  expect(new Set(data.map((request) => request.body?.length))).toEqual(new Set([256]));
  for (const text of texts) expect(text.length).toBeLessThanOrEqual(maxPartBytes);
  expect(bytes + maxPartBytes).toBeLessThan(8 * MIB);
});

test('up to 4 MiB nothing is truncated', () => {
  const { data } = writeOut(many((index) => record(index, 'x'.repeat(16 * 1024))));
  expect(new Set(data.map((request) => request.body?.length))).toEqual(new Set([16 * 1024]));
});

test('bodies are freed when they are in the text', () => {
  const bodies = Array.from({ length: 3 }, () => Uint8Array.from(Buffer.alloc(8 * 1024, 'x')));
  const { data } = writeOut(bodies.map((body, at) => ({ ...record(2 - at), body })));
  expect(data.map(({ body }) => body?.length)).toEqual([8192, 8192, 8192]);
  expect(bodies.map((body) => body.length)).toEqual([0, 0, 0]);
});

test("a request that can't be presented is omitted and reported, at any position", () => {
  for (const at of [0, 50, 99]) {
    const broken = many((index) => (index === at ? { ...record(index), receivedAt: Number.NaN } : record(index)));
    const { data, failures } = writeOut(broken);
    expect([data.length, failures.length]).toEqual([99, 1]);
  }
});
