import { onTestFinished, expect, test, vi } from 'vitest';
import { DestinationLeases } from './destination-leases.ts';

test('after a failed poll, other processes have 3 s to renew their leases', async () => {
  let clock = 10_000;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  onTestFinished(() => void vi.restoreAllMocks());
  let isUp = false;
  const claimed: number[] = [];
  const leases = new DestinationLeases({
    store: {
      async dueDestinations() {
        if (!isUp) throw new Error('The database does not answer.');
        return [1];
      },
      async claimDestinations(ids) {
        claimed.push(...ids);
        return [...ids];
      },
      releaseLeases: async () => undefined,
      renewLeases: async () => claimed,
    },
    now: () => 0,
    sendAll: async () => undefined,
  });
  await expect(leases.poll()).rejects.toThrow('The database does not answer.');
  isUp = true;
  clock += 60_000;
  await leases.poll();
  clock += 2999;
  await leases.poll();
  expect(claimed).toEqual([]);
  clock += 1;
  await leases.poll();
  expect(claimed).toEqual([1]);
});
