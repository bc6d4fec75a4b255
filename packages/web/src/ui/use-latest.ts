import { useEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** A ref with the value of the latest rendering, for callbacks that must not change with it. */
export function useLatest<T>(value: T): Readonly<RefObject<T>> {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}
