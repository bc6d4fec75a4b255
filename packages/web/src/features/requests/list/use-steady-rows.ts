import { useEffect, useLayoutEffect, useRef, useMemo, useState } from 'react';
import type { RefObject, FocusEvent, PointerEvent } from 'react';
import { useLatest } from '../../../ui/state.ts';
import type { ListItems } from '../list-items.ts';
import { ROW_HEIGHT } from './request-row.tsx';

/** Keeps the first visible row in its place when the rows of a gap above it are loaded. */
export function useAnchor(frame: RefObject<HTMLElement | null>, items: ListItems): void {
  const anchor = useRef<{ readonly index: number; readonly position: number }>(undefined);
  useLayoutEffect(() => {
    const { current: element } = frame;
    const { current: before } = anchor;
    if (element === null || before === undefined || element.scrollTop < ROW_HEIGHT) return;
    const position = items.positionOfIndex(before.index);
    if (position >= 0 && position !== before.position)
      element.scrollBy({ top: (position - before.position) * ROW_HEIGHT });
  }, [frame, items]);
  // After each rendering, because scrolling renders the visible rows again.
  useEffect(() => {
    const first = Math.ceil((frame.current?.scrollTop ?? 0) / ROW_HEIGHT);
    const item = items.at(first);
    const below = item?.kind === 'gap' ? items.at(first + 1) : item;
    anchor.current =
      below?.kind === 'request'
        ? { index: below.request.index, position: items.positionOfIndex(below.request.index) }
        : undefined;
  });
}

/** Holds new rows back while the pointer or the keyboard focus is on the list, so that no row moves under it. */
export function useAttention(setAttended: (attended: boolean) => void) {
  const pointer = useRef(false);
  const keyboard = useRef(false);
  const latest = useLatest(setAttended);
  useEffect(() => () => latest.current(false), [latest]);
  return useMemo(() => {
    const report = (): void => latest.current(pointer.current || keyboard.current);
    return {
      onPointerEnter: ({ pointerType }: PointerEvent) => {
        pointer.current = pointerType !== 'touch';
        report();
      },
      onPointerLeave: () => {
        pointer.current = false;
        report();
      },
      // A click focuses the list, too, and so does the page after something else has closed. Only the Tab key counts.
      onFocus: ({ target, relatedTarget }: FocusEvent) => {
        keyboard.current ||= relatedTarget !== null && target.matches(':focus-visible');
        report();
      },
      onKeyDown: () => {
        keyboard.current = true;
        report();
      },
      onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => {
        if (relatedTarget instanceof Node && currentTarget.contains(relatedTarget)) return;
        keyboard.current = false;
        report();
      },
    };
  }, [latest]);
}

/** Milliseconds of the glow of a new row. */
const FRESH_MS = 1500;

/** More new rows than this at once are a stream, which is not animated. */
const MAX_ANIMATED_ROWS = 12;

/** The index above which rows are new and glow, and whether rows arrive too fast for animations. */
export function useFresh(newest: number | undefined): { readonly after: number; readonly busy: boolean } {
  const [baseline, setBaseline] = useState(newest);
  useEffect(() => {
    if (newest === baseline) return undefined;
    const timer = setTimeout(() => setBaseline(newest), FRESH_MS);
    return () => clearTimeout(timer);
  }, [newest, baseline]);
  if (baseline === undefined && newest !== undefined) setBaseline(newest);
  const after = baseline ?? Number.POSITIVE_INFINITY;
  const busy = newest !== undefined && newest - after > MAX_ANIMATED_ROWS;
  return { after: busy ? Number.POSITIVE_INFINITY : after, busy };
}
