import { useSyncExternalStore } from 'react';
import type { z } from 'zod';

/** A value in local storage. It is parsed when read, and shared with all components and tabs. */
export interface StoredValue<T> {
  readonly read: () => T;
  readonly write: (value: T) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/** `fallback` replaces a missing or invalid value. If storage is unavailable, values last as long as the page. */
export function storedValue<Schema extends z.ZodType>(
  key: string,
  schema: Schema,
  fallback: z.output<Schema>,
): StoredValue<z.output<Schema>> {
  const listeners = new Set<() => void>();
  let current = load(key, schema) ?? fallback;

  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const onStorage = (message: StorageEvent): void => {
    if (message.key !== key && message.key !== null) return;
    current = load(key, schema) ?? fallback;
    tell();
  };
  return {
    read: () => current,
    write(value) {
      current = value;
      try {
        localStorage.setItem(key, JSON.stringify(value));
      } catch {
        // Storage is full or blocked: the value still applies to this page.
      }
      tell();
    },
    subscribe(listener) {
      if (listeners.size === 0) addEventListener('storage', onStorage);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) removeEventListener('storage', onStorage);
      };
    },
  };
}

function load<Schema extends z.ZodType>(key: string, schema: Schema): z.output<Schema> | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(localStorage.getItem(key) ?? 'null'));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** The value of a preference and a function to change it. */
export function usePreference<T>(stored: StoredValue<T>): readonly [T, (value: T) => void] {
  return [useSyncExternalStore(stored.subscribe, stored.read), stored.write];
}
