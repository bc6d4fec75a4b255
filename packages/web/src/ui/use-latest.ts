import { useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

/**
 * A ref with the value of the latest rendering, for callbacks that must not change with it. Set before the browser paints,
 * so that a key acts on what is shown.
 */
export function useLatest<T>(value: T): Readonly<RefObject<T>> {
  const latest = useRef(value);
  useLayoutEffect(() => {
    latest.current = value;
  });
  return latest;
}
