import { useSyncExternalStore } from 'react';

/** True while the media query matches. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}

/** Below 768 px the sidebar becomes a slide-in menu. */
export const useIsNarrow = (): boolean => useMedia('(width < 768px)');

/** Below 1000 px the details cover the list, because two panes beside the sidebar would be too narrow. */
export const useDetailsCover = (): boolean => useMedia('(width < 1000px)');
