// Whoever works by keyboard keeps their place: what goes away while it has the focus says where the focus goes.
import { useEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';

/** True where the keyboard has no place: what had the focus is gone. */
function isLost(): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body;
}

function canTake(element: Element | null | undefined): element is HTMLElement {
  return (
    element instanceof HTMLElement &&
    element !== document.body &&
    element.isConnected &&
    !element.matches(':disabled') &&
    element.closest('[inert]') === null
  );
}

/** Once what is going away is gone: gives a lost focus to the first of these that can take it. */
function rescue(...places: (() => Element | null | undefined)[]): void {
  setTimeout(() => {
    if (!isLost()) return;
    for (const place of places) {
      const element = place();
      if (!canTake(element)) continue;
      element.focus({ preventScroll: true });
      if (!isLost()) return;
    }
  });
}

const mainPart = () => document.getElementById('main');

/** For a modal dialog of Radix, which by itself gives the focus back to its own trigger alone: back to what had it. */
export function useFocusBack() {
  const opener = useRef<Element>(null);
  return {
    remember: () => {
      opener.current = document.activeElement;
    },
    onCloseAutoFocus: (closing: Event) => {
      closing.preventDefault();
      const had = opener.current;
      if (had === null || had === document.body) return;
      rescue(() => had, mainPart);
    },
  };
}

/**
 * For what takes the focus as long as it is shown: when it goes, the focus goes back to what had it before, or else to what
 * `otherwise` finds.
 */
export function useFocusReturn(otherwise: () => Element | null | undefined = mainPart): void {
  const [opener] = useState(() => document.activeElement);
  const last = useRef(otherwise);
  useEffect(() => {
    last.current = otherwise;
  });
  useEffect(() => () => rescue(() => opener, last.current), [opener]);
}

/** A page that went away may have had the focus: then the main part of the next one takes it. `path` is where the person is. */
export function useFocusAfterLeaving(path: string): void {
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current !== path) rescue(mainPart);
    shown.current = path;
  }, [path]);
}

/** Takes the focus itself when something in it that has the focus goes away, a row for instance. The element needs a `tabIndex`. */
export function useFocusKept(frame: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    let held: Element | undefined;
    const onIn = ({ target }: FocusEvent): void => {
      held = target instanceof Element ? target : undefined;
    };
    const onOut = ({ target }: FocusEvent): void => {
      // What is taken out of the page may say so first; what is left for another place is still in it a moment later.
      setTimeout(() => {
        if (held === target && target instanceof Element && target.isConnected) held = undefined;
      });
    };
    const watch = new MutationObserver(() => {
      if (held === undefined || held.isConnected) return;
      held = undefined;
      rescue(() => element);
    });
    element.addEventListener('focusin', onIn);
    element.addEventListener('focusout', onOut);
    watch.observe(element, { childList: true, subtree: true });
    return () => {
      watch.disconnect();
      element.removeEventListener('focusin', onIn);
      element.removeEventListener('focusout', onOut);
    };
  }, [frame]);
}
