import { onTestFinished, expect, test, vi } from 'vitest';
import { DestinationLeases } from './destination-leases.ts';

/** Leases of a process with a test clock. `due`: what it may claim; `undefined` while the database does not answer. */
function someLeases(due: number[] | undefined) {
  const world = { due, clock: 10_000, claimed: [] as number[], owned: new Set<number>() };
  vi.spyOn(performance, 'now').mockImplementation(() => world.clock);
  onTestFinished(() => void vi.restoreAllMocks());
  const leases = new DestinationLeases({
    store: {
      async dueDestinations() {
        if (world.due === undefined) throw new Error('The database does not answer.');
        return world.due;
      },
      async claimDestinations(ids) {
        world.claimed.push(...ids);
        for (const id of ids) world.owned.add(id);
        return [...ids];
      },
      releaseLeases: async () => undefined,
      renewLeases: async () => [...world.owned],
    },
    now: () => 0,
    sendAll: async () => undefined,
  });
  return { world, leases };
}

test('after a failed poll, other processes have 3 s to renew their leases', async () => {
  const { world, leases } = someLeases(undefined);
  await expect(leases.poll()).rejects.toThrow('The database does not answer.');
  world.due = [1];
  world.clock += 60_000;
  await leases.poll();
  world.clock += 2999;
  await leases.poll();
  expect(world.claimed).toEqual([]);
  world.clock += 1;
  await leases.poll();
  expect(world.claimed).toEqual([1]);
});

test('a lease that another process has taken ends, and is claimed again after that one', async () => {
  const { world, leases } = someLeases([1]);
  await leases.poll();
  const lost = leases.get(1);
  expect(lost?.isHeld).toBe(true);
  world.owned.clear();
  world.due = [];
  world.clock += 3000;
  await leases.poll();
  expect([lost?.isHeld, leases.get(1)]).toEqual([false, undefined]);
  world.due = [1];
  await leases.poll();
  expect(leases.get(1)?.isHeld).toBe(true);
});
