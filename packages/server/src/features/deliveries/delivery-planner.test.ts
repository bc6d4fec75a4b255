import { expect, onTestFinished, test, vi } from 'vitest';
import { DeliveryPlanner } from './delivery-planner.ts';

/**
 * A planner of endpoints whose ids are also those of their users. `slow` endpoints take until `release`, and `behind`
 * endpoints have destinations that could not send more.
 */
function startPlanner(slow: readonly number[], behind: readonly number[] = []) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const matched: number[] = [];
  const planner = new DeliveryPlanner({
    store: {
      unplannedEndpoints: async () => [{ id: 7, userId: 7 }],
      async matchCaptures(endpointId) {
        matched.push(endpointId);
        if (slow.includes(endpointId)) await released;
        return { from: 0, to: 1, captures: [], pending: 0, hasMore: false };
      },
      async planCaptures(endpointId) {
        const isBehind = behind.includes(endpointId);
        // Captures of two endpoints of a user.
        if (isBehind) for (const id of [endpointId, 2]) planner.wake(id, endpointId);
        return { destinationIds: [], isBehind, planned: [], refused: [] };
      },
    },
    installation: { mark: '', secret: '' },
    now: () => 0,
    onPlanned: () => undefined,
    onFailure: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(async () => {
    release();
    await planner.stop();
  });
  return { planner, matched, release };
}

test("conditions that take long delay only their user's captures", async () => {
  const { planner, matched, release } = startPlanner([1]);
  planner.wake(1, 1);
  planner.wake(2, 2);
  await expect.poll(() => matched).toEqual([1, 2]);
  planner.wake(1, 1);
  planner.wake(11, 1);
  planner.wake(2, 2);
  await expect.poll(() => matched).toEqual([1, 2, 2]);
  planner.wake(3, 3);
  await expect.poll(() => matched).toEqual([1, 2, 2, 3]);
  release();
  await expect.poll(() => matched).toEqual([1, 2, 2, 3, 11, 1]);
});

test('captures do not wake an endpoint whose destinations have enough to send', async () => {
  const { planner, matched } = startPlanner([], [1]);
  planner.wake(1, 1);
  await expect.poll(() => matched.slice(0, 3)).toEqual([1, 2, 1]);
});

test('captures of four users are planned at the same time, and of one user one after another', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { planner, matched } = startPlanner([1, 2, 3, 4, 5, 11]);
  for (const userId of [1, 2, 3, 4, 5]) planner.wake(userId, userId);
  planner.wake(11, 1);
  await vi.advanceTimersByTimeAsync(0);
  expect(matched).toEqual([1, 2, 3, 4]);
});

test('captures that no step planned are found', async () => {
  const { planner, matched } = startPlanner([]);
  const running = planner.start();
  await expect.poll(() => matched).toEqual([7]);
  await planner.stop();
  await running;
});
