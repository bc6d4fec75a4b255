import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { dismissErrorsAfter, dismissToast, newestToastId, toast, toastError, toastStore } from './toast-store.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
});

test('only the newest toast is shown, and the end of an older one does not close it', () => {
  const closeFirst = toast({ title: 'first' });
  toast({ title: 'second' });
  closeFirst();
  expect(toastStore.read()).toMatchObject({ title: 'second', open: true });
});

test('what works again closes only the errors since then', () => {
  const isOpen = () => toastStore.read()?.open;
  toastError('Failed.');
  const before = newestToastId();
  dismissErrorsAfter(before);
  expect(isOpen()).toBe(true);
  toast({ title: 'Saved' });
  dismissErrorsAfter(before);
  expect(isOpen()).toBe(true);
  toastError('Failed again.');
  dismissErrorsAfter(before);
  expect(isOpen()).toBe(false);
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
