import { expect, test, vi } from 'vitest';
import { within } from './within.ts';

test('time that has run out is no negative timeout, which Node reports as text on standard error', async () => {
  using timer = vi.spyOn(globalThis, 'setTimeout');
  await expect(within(-6.5, Promise.withResolvers().promise, () => new Error('late'))).rejects.toThrow('late');
  expect(timer.mock.calls.map(([, milliseconds]) => milliseconds)).toEqual([0]);
});
