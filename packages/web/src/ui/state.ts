import { useSyncExternalStore, useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';
import type { z } from 'zod';

/** A value outside of React that components can subscribe to. */
export interface Signal<T> {
  readonly read: () => T;
  /** Sets the value, and notifies the subscribers if it has changed. */
  readonly set: (value: T) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/** `whileUsed` runs for the first subscriber, and the function that it returns after the last one. */
export function signal<T>(initial: T, whileUsed?: (set: (value: T) => void) => () => void): Signal<T> {
  const listeners = new Set<() => void>();
  let stop: (() => void) | undefined;
  let current = initial;
  const set = (value: T): void => {
    if (Object.is(value, current)) return;
    current = value;
    for (const listener of listeners) listener();
  };
  return {
    read: () => current,
    set,
    subscribe(listener) {
      if (listeners.size === 0) stop = whileUsed?.(set);
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop?.();
      };
    },
  };
}

export const useSignal = <T>({ subscribe, read }: Signal<T>): T => useSyncExternalStore(subscribe, read);

/**
 * A value in local storage. It is parsed when read, and shared with all components and tabs. `fallback` replaces a
 * missing or invalid value. If storage is unavailable, values last as long as the page.
 */
export function storedValue<Schema extends z.ZodType>(
  key: string,
  schema: Schema,
  fallback: z.output<Schema>,
): Signal<z.output<Schema>> {
  const load = (): z.output<Schema> => {
    try {
      const parsed = schema.safeParse(JSON.parse(localStorage.getItem(key) ?? 'null'));
      return parsed.success ? parsed.data : fallback;
    } catch {
      return fallback;
    }
  };
  const value = signal(load());
  // Also while nothing subscribes: a change of a value that is out of date would undo those of other tabs.
  // Tests in Node have no window.
  globalThis.addEventListener?.('storage', ({ key: changed }) => {
    if (changed === key || changed === null) value.set(load());
  });
  return {
    ...value,
    set(next) {
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // Storage is full or blocked: the value still applies to this page.
      }
      value.set(next);
    },
  };
}

/** The clock of the machine counts as right within this time, because a response takes some time to arrive. */
const CLOCK_ERROR_MS = 10_000;
let behindMs = 0;
let isDecided = false;
/** The start of the page by the clock of the machine. It changes if that clock is set, and if the machine sleeps. */
let startedAt = Date.now() - performance.now();

/** The time in milliseconds since 1970, by the server's clock if the machine's is wrong. */
export const currentTime = (): number => Date.now() + behindMs;

/**
 * Notes when the server sent a response that arrives now. The first one decides, so that times on the page don't jump.
 * After the clock of the machine was set, the second one decides, because the first one may have been sent before.
 */
export function noteServerTime(time: number): void {
  if (Number.isNaN(time)) return;
  const start = Date.now() - performance.now();
  const wasSet = Math.abs(start - startedAt) > CLOCK_ERROR_MS;
  startedAt = start;
  if (!wasSet && !isDecided) {
    const behind = time - Date.now();
    behindMs = Math.abs(behind) > CLOCK_ERROR_MS ? behind : 0;
  }
  isDecided = !wasSet;
}

const TICK_MS = 1000;

/** One clock for all relative times on the page. It stops while nothing subscribes. */
const clock = signal(currentTime(), (set) => {
  set(currentTime());
  const timer = setInterval(() => set(currentTime()), TICK_MS);
  return () => clearInterval(timer);
});

/** The time in milliseconds, rounded down to `stepMs`, so that a component renders only once per step. */
export function useNow(stepMs = 1000): number {
  return useSyncExternalStore(clock.subscribe, () => Math.floor(clock.read() / stepMs) * stepMs);
}

/**
 * A ref with the value of the latest rendering, for stable functions that components get. Effects use `useEffectEvent`
 * instead. Set before the browser paints, so that a key acts on what is shown.
 */
export function useLatest<T>(value: T): Readonly<RefObject<T>> {
  const latest = useRef(value);
  useLayoutEffect(() => {
    latest.current = value;
  });
  return latest;
}

/** Media queries and whether the screen matches them. */
const onScreen = new Map<string, boolean>();

/**
 * True while the screen matches the media query. Paper is narrow, so printing would otherwise close what is open in a wide
 * window.
 */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => {
      const known = onScreen.get(query);
      if (known !== undefined && matchMedia('print').matches) return known;
      const { matches } = matchMedia(query);
      onScreen.set(query, matches);
      return matches;
    },
  );
}

/** Below 768 px the sidebar becomes a slide-in menu. */
export const useIsNarrow = (): boolean => useMedia('(width < 768px)');

/** Below 1000 px the details cover the list, because two panes beside the sidebar would be too narrow. */
export const useDetailsCover = (): boolean => useMedia('(width < 1000px)');

/** A set without a value that it has, or with one that it does not have. */
export function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}
