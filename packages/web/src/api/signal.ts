/** A value outside of React that components can subscribe to. */
export interface Signal<T> {
  readonly read: () => T;
  readonly set: (value: T) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

export function signal<T>(initial: T): Signal<T> {
  const listeners = new Set<() => void>();
  let current = initial;
  return {
    read: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
