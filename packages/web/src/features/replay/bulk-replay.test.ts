import { afterEach, expect, test, vi } from 'vitest';
import { sampleRequest } from '../../../../../fixtures/sample-request.ts';
import { baseMistake, countStatuses, remainingMs, replayBelow, sleep, suggestedBase, urlBelow } from './bulk-replay.ts';

afterEach(() => {
  vi.useRealTimers();
});

const request = sampleRequest(1, { path: '/orders/create', rawTarget: '/orders/create?a=%7e' });

test.each([
  ['localhost:4000', 'http://localhost:4000/orders/create?a=%7e'],
  ['http://app:3000/', 'http://app:3000/orders/create?a=%7e'],
  ['https://shop.test/hooks/', 'https://shop.test/hooks/orders/create?a=%7e'],
])('the captured path and query follow the base %s', (base, url) => {
  expect(urlBelow(base, request)).toBe(url);
});

test('a request without a path goes to the base itself', () => {
  expect(urlBelow('http://app/hooks', sampleRequest(1, { path: '/', rawTarget: '?x=1' }))).toBe('http://app/hooks?x=1');
});

test('a captured path does not lead out of the base', async () => {
  const leaving = sampleRequest(1, { path: '/../admin', rawTarget: '/..%2fadmin' });
  const result = await replayBelow('uid', leaving, 'http://app:3000/hooks', new AbortController());
  expect(result).toMatchObject({ isSent: false, status: undefined, label: expect.stringContaining('“..”') });
});

test('the base is where the endpoint was last replayed to', () => {
  expect(suggestedBase(undefined)).toBe('');
  expect(suggestedBase({ path: '/a', url: 'http://app:3000/in/a' })).toBe('http://app:3000/in');
});

test('a base must be a URL and not the placeholder', () => {
  expect(baseMistake('localhost:4000')).toBeUndefined();
  expect(baseMistake('')).toBe('Please enter a valid URL');
  expect(baseMistake('https://example.com')).toContain('placeholder');
});

test('the remaining time follows the latest results, and grows while there is none', () => {
  expect(remainingMs([0, 100, 200], 5, 200)).toBeUndefined();
  expect(remainingMs([0, 100, 200, 300], 5, 300)).toBe(500);
  expect(remainingMs([0, 100, 200, 300], 5, 400)).toBe(500);
  expect(remainingMs([0, 100, 200, 300], 5, 4000)).toBe(5000);
  expect(remainingMs([0, 100, 200, 300], 0, 4000)).toBe(0);
});

test('a run that was stopped does not wait for its pace', async () => {
  vi.useFakeTimers();
  const controller = new AbortController();
  const waits = sleep(5000, controller.signal);
  controller.abort();
  await waits;
  await expect(sleep(5000, controller.signal)).resolves.toBeUndefined();
});

/** Replays a request to a server with these answers; the last one repeats. `calls`: how many it got. */
function replaying(...answers: Response[]) {
  vi.useFakeTimers();
  const next = (): Response | undefined => (answers.length > 1 ? answers.shift() : answers[0]?.clone());
  const fetch = vi.fn<() => Promise<Response>>(async () => next() ?? Response.error());
  vi.stubGlobal('fetch', fetch);
  return {
    result: replayBelow('uid', request, 'http://app:3000', new AbortController()),
    calls: () => fetch.mock.calls.length,
  };
}
const problem = (status: number, code: string, headers = {}): Response =>
  Response.json({ error: 'Failed', code }, { status, headers });

test('a limited replay waits as long as the server says', async () => {
  const answer = { status: 204, statusText: '', headers: [], body: null, bodyEncoding: 'utf8', bodyTruncated: false };
  const { result, calls } = replaying(
    problem(429, 'RATE_LIMITED', { 'retry-after': '3' }),
    Response.json({ ...answer, durationMs: 1 }),
  );
  await vi.advanceTimersByTimeAsync(2999);
  expect(calls()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect([(await result)?.status, calls()]).toEqual([204, 2]);
});

test.each([
  ['a replay that stays limited', 429, 'RATE_LIMITED', 21],
  ['an ended session', 401, 'NOT_SIGNED_IN', 1],
])('%s ends the run', async (_, status, code, count) => {
  const { result, calls } = replaying(problem(status, code));
  const ended = result.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls()).toBe(count);
  expect(await ended).toMatchObject({ status });
});

test('statuses are counted in order, and what got no response is last', () => {
  const result = (status: number | undefined) => ({
    request,
    label: '',
    tone: 'success' as const,
    isSent: true,
    status,
  });
  expect(countStatuses([200, undefined, 500, 200].map(result)).map(({ status, count }) => [status, count])).toEqual([
    [200, 2],
    [500, 1],
    [undefined, 1],
  ]);
});
