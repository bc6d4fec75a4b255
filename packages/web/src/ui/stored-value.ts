import { useSyncExternalStore } from 'react';
import type { z } from 'zod';

/** One value in the browser's own storage: parsed when read, shared by all who look, in this tab and in the others. */
export interface StoredValue<T> {
  readonly read: () => T;
  readonly write: (value: T) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/** `fallback` stands for what is missing or makes no sense. A browser without storage keeps values until the page goes. */
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
        // Full or forbidden: the value still holds for this page.
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

/** A preference and what changes it: the one way of components to local storage. */
export function usePreference<T>(stored: StoredValue<T>): readonly [T, (value: T) => void] {
  return [useSyncExternalStore(stored.subscribe, stored.read), stored.write];
}
