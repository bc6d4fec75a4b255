import { useEffect, useState } from 'react';
import type { RefObject } from 'react';

/** Whether an element is at least `width` CSS pixels wide, followed as it changes. */
export function useIsAtLeast(element: RefObject<HTMLElement | null>, width: number): boolean {
  const [isWide, setWide] = useState(true);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWide(entry.contentRect.width >= width);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, width]);
  return isWide;
}
