import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { dismissToast, toast, toastStore } from './toast-store.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
});

test('only the newest toast is shown', () => {
  toast({ title: 'first' });
  toast({ title: 'second' });
  expect(toastStore.read()?.title).toBe('second');
});

test('a dismissed toast closes at once and is removed 1000000 ms later', () => {
  const close = toast({ title: 'going' });
  close();
  expect(toastStore.read()?.open).toBe(false);
  vi.advanceTimersByTime(999_999);
  expect(toastStore.read()).toBeDefined();
  vi.advanceTimersByTime(1);
  expect(toastStore.read()).toBeUndefined();
});

test('dismissing twice or with an unknown id does nothing', () => {
  const close = toast({ title: 'once' });
  close();
  close();
  dismissToast(-1);
  expect(toastStore.read()?.open).toBe(false);
});
