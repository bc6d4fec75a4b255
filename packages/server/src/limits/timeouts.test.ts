import { expect, test, vi } from 'vitest';
import { withTimeout } from './timeouts.ts';

test('time that has run out is no negative timeout, which Node reports as text on standard error', async () => {
  using timer = vi.spyOn(globalThis, 'setTimeout');
  await expect(withTimeout(-6.5, Promise.withResolvers().promise, () => new Error('late'))).rejects.toThrow('late');
  expect(timer.mock.calls.map(([, milliseconds]) => milliseconds)).toEqual([0]);
});
