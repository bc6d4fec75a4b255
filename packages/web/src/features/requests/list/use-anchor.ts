import { useEffect, useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';
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
