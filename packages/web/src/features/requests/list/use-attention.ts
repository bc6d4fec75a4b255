import { useEffect, useMemo, useRef } from 'react';
import type { FocusEvent, PointerEvent } from 'react';
import { useLatest } from '../../../ui/state.ts';

/** Holds new rows back while the pointer or the keyboard focus is on the list, so that no row moves under it. */
export function useAttention(setAttended: (attended: boolean) => void) {
  const pointer = useRef(false);
  const keyboard = useRef(false);
  const latest = useLatest(setAttended);
  useEffect(() => () => latest.current(false), [latest]);
  return useMemo(() => {
    const tell = (): void => latest.current(pointer.current || keyboard.current);
    return {
      onPointerEnter: ({ pointerType }: PointerEvent) => {
        pointer.current = pointerType !== 'touch';
        tell();
      },
      onPointerLeave: () => {
        pointer.current = false;
        tell();
      },
      // A click focuses the list, too, and so does the page after something else has closed. Only the Tab key counts.
      onFocus: ({ target, relatedTarget }: FocusEvent) => {
        keyboard.current ||= relatedTarget !== null && target.matches(':focus-visible');
        tell();
      },
      onKeyDown: () => {
        keyboard.current = true;
        tell();
      },
      onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => {
        if (relatedTarget instanceof Node && currentTarget.contains(relatedTarget)) return;
        keyboard.current = false;
        tell();
      },
    };
  }, [latest]);
}
