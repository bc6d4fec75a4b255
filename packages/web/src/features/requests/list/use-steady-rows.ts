import type { Virtualizer } from '@tanstack/react-virtual';
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import type { RefObject, FocusEvent, PointerEvent } from 'react';
import type { ListItems } from '../list-items.ts';
import type { HoldReason } from './use-list.ts';

/** Keeps the first visible row in its place when the rows of a gap above it are loaded. `height` is that of a row. */
export function useAnchor(frame: RefObject<HTMLElement | null>, items: ListItems, height: number): void {
  const anchor = useRef<{ readonly index: number; readonly position: number }>(undefined);
  useLayoutEffect(() => {
    const { current: element } = frame;
    const { current: before } = anchor;
    if (element === null || before === undefined || element.scrollTop < height) return;
    const position = items.positionOfIndex(before.index);
    if (position >= 0 && position !== before.position) element.scrollBy({ top: (position - before.position) * height });
  }, [frame, items, height]);
  // After each rendering, because scrolling renders the visible rows again.
  useEffect(() => {
    const first = Math.ceil((frame.current?.scrollTop ?? 0) / height);
    const item = items.at(first);
    const below = item?.kind === 'gap' ? items.at(first + 1) : item;
    anchor.current =
      below?.kind === 'request'
        ? { index: below.request.index, position: items.positionOfIndex(below.request.index) }
        : undefined;
  });
}

/** Scrolls to the selected row when the selection changes. `position`: in the list, or -1. */
export function useScrollToSelected(
  virtual: Virtualizer<HTMLDivElement, Element>,
  selected: number | undefined,
  position: number,
): void {
  const isListed = position >= 0;
  /** The selected request, while it is not in the list. */
  const unlisted = useRef<number>(undefined);
  useEffect(() => {
    // A request from a link is in the list only after the rows around it are loaded.
    const align = selected !== undefined && unlisted.current === selected ? 'center' : 'auto';
    if (isListed) virtual.scrollToIndex(position, { align });
    unlisted.current = isListed ? undefined : selected;
    // Not when rows arrive above it.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [selected, isListed]);
}

/** Milliseconds after the last movement or key. A pointer that only rests on the list must not hold new rows back. */
const ATTENTION_MS = 2000;

/**
 * Holds new rows back while the user moves the pointer on the list or uses it by keyboard, so that no row moves under
 * either.
 */
export function useAttention(hold: (reason: HoldReason, isHeld: boolean) => void) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const end = (): void => {
    clearTimeout(timer.current);
    hold('attention', false);
  };
  const attend = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => hold('attention', false), ATTENTION_MS);
    hold('attention', true);
  };
  const onUnmount = useEffectEvent(end);
  useEffect(() => () => onUnmount(), []);
  return {
    onPointerMove: ({ pointerType }: PointerEvent) => {
      if (pointerType !== 'touch') attend();
    },
    onPointerLeave: end,
    // A click focuses the list, too, and so does the page after something else has closed. Only the Tab key counts.
    onFocus: ({ target, relatedTarget }: FocusEvent) => {
      if (relatedTarget !== null && target.matches(':focus-visible')) attend();
    },
    onKeyDown: attend,
    onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => {
      if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) end();
    },
  };
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
