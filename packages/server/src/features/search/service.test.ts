import { setImmediate } from 'node:timers/promises';
import { parseQuery } from '@creel/contract';
import { expect, test } from 'vitest';
import { ProblemError } from '../../http/problem.ts';
import { Searches, searchRequests } from './service.ts';
import type { SearchRequest } from './service.ts';

/** Searches of users without endpoints, which end on command, and which of them have started. */
function manual() {
  const begun: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const searches = new Searches(
    {
      searchedEndpoints(userId) {
        begun.push(userId);
        return new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve([]))));
      },
      scanRequests: () => Promise.reject(new Error('There is no endpoint.')),
    },
    () => 0,
  );
  return { begun, searches, end: (nth: number, error?: Error) => ends[nth]?.(error) };
}

function search(userId: number, signal = new AbortController().signal): SearchRequest {
  const parsed = parseQuery('');
  if (!parsed.ok) throw new Error(parsed.sentence);
  return { userId, query: parsed.query, limit: 1, maxRows: 1, signal };
}

const EMPTY = { found: [], searched: 0, next: undefined };

test("one user's searches run sequentially, in order; another user's in parallel", async () => {
  const { begun, searches, end } = manual();
  const results = Array.from({ length: 3 }, () => searches.run(search(1)));
  const other = searches.run(search(2));
  await setImmediate();
  expect(begun).toEqual([1, 2]);
  end(0);
  await setImmediate();
  expect(begun).toEqual([1, 2, 1]);
  end(2, new Error('disk I/O error'));
  await expect(results[1]).rejects.toThrow('disk I/O error');
  await setImmediate();
  end(3);
  end(1);
  expect(await Promise.all([results[0], results[2], other])).toEqual([EMPTY, EMPTY, EMPTY]);
});

test('a search without a waiting caller is not started, and does not block the next', async () => {
  const { begun, searches, end } = manual();
  const first = searches.run(search(1));
  const abandoned = search(1, AbortSignal.abort(new ProblemError('UNAVAILABLE')));
  await expect(searches.run(abandoned)).rejects.toBeInstanceOf(ProblemError);
  const last = searches.run(search(1));
  await setImmediate();
  end(0);
  await setImmediate();
  end(1);
  expect(await Promise.all([first, last])).toEqual([EMPTY, EMPTY]);
  expect(begun).toEqual([1, 1]);
});

test('the queue is bounded, for one user and not for others, and accepts searches again later', async () => {
  const { begun, searches, end } = manual();
  const first = searches.run(search(1));
  const waiting = Array.from({ length: 10 }, () => searches.run(search(1)));
  await expect(searches.run(search(1))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  const other = searches.run(search(2));
  end(1);
  expect(await other).toEqual(EMPTY);
  end(0);
  for (let nth = 2; nth < 12; nth += 1) {
    await setImmediate();
    end(nth);
  }
  expect(await Promise.all([first, ...waiting])).toHaveLength(11);
  const again = searches.run(search(1));
  await setImmediate();
  end(12);
  expect(await again).toEqual(EMPTY);
  expect(begun).toHaveLength(13);
});

test('a query that takes too long for a request is rejected, with what to do', async () => {
  const { found, searched, next } = EMPTY;
  const endpoint = { endpointId: 1, uid: 'uid', index: 5, receivedAt: 0 };
  const queries = {
    searchedEndpoints: async () => [endpoint],
    scanRequests: async () => ({ found, searched, next, bytes: 0, tooSlowFor: 20_000_000 }),
  };
  await expect(searchRequests(queries, search(1), 0)).rejects.toMatchObject({
    code: 'INVALID_QUERY',
    message: expect.stringContaining('a request of 20 MB. Use fewer terms'),
  });
});

test('a call ends after its time and returns where to continue, but never without progress', async () => {
  const endpoint = { endpointId: 1, uid: 'uid', index: 5, receivedAt: 0 };
  const queries = {
    searchedEndpoints: async () => [endpoint],
    scanRequests: async ({ from }: { readonly from: number }) => {
      const next = from === 0 ? undefined : { index: from - 1, receivedAt: 0 };
      return { found: [], searched: 1, bytes: 1, next };
    },
  };
  const run = (maxMs: number) => searchRequests(queries, { ...search(1), maxRows: 100, maxMs }, 0);
  expect(await run(0)).toMatchObject({ searched: 1, next: { index: 5 } });
  expect(await run(10_000)).toMatchObject({ searched: 6, next: undefined });
});
