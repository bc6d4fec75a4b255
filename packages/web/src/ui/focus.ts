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

const KEEPS_FOCUS = 'data-keeps-focus';

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

/** The first page leaves the keyboard where the browser begins, at its top. */
let hasArrived = false;

/** A page that went away may have had the focus: then the main part of the next one takes it. `path` tells pages apart. */
export function useFocusAfterLeaving(path: string): void {
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (hasArrived && shown.current !== path) rescue(mainPart);
    hasArrived = true;
    shown.current = path;
  }, [path]);
}

/**
 * Takes the focus when something in it that has the focus goes away, a row for instance: gives it to what `place` finds, or else to
 * the element itself, which needs a `tabIndex`. Of several around it the innermost that is still there does so.
 */
export function useFocusKept(frame: RefObject<HTMLElement | null>, place?: () => Element | null | undefined): void {
  const first = useRef(place);
  useEffect(() => {
    first.current = place;
  });
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    element.toggleAttribute(KEEPS_FOCUS, true);
    let held: Element | undefined;
    let keeper: Element | null = null;
    const onIn = ({ target }: FocusEvent): void => {
      held = target instanceof Element ? target : undefined;
      keeper = held?.closest(`[${KEEPS_FOCUS}]`) ?? null;
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
      if (keeper !== element && keeper?.isConnected === true) return;
      rescue(
        () => first.current?.(),
        () => element,
      );
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

/** Marks what stays in use beside something that lies over the page. */
export const STAYS_BESIDE = { 'data-stays-beside': '' } as const;

/** Takes pointer and keyboard from what the page has besides an element; the returned function gives them back. */
function silenceAround(cover: Element): () => void {
  const silenced: Element[] = [];
  for (let on = cover; on.parentElement !== null && on.parentElement.id !== 'root'; on = on.parentElement) {
    for (const sibling of on.parentElement.children) {
      if (sibling === on || sibling.matches('[data-stays-beside], [inert]')) continue;
      sibling.toggleAttribute('inert', true);
      silenced.push(sibling);
    }
  }
  return () => {
    for (const element of silenced) element.toggleAttribute('inert', false);
  };
}

/** While it is shown, what the page has besides it takes neither pointer nor keyboard; messages and what stays beside it do. */
export function useInertBelow(cover: RefObject<HTMLElement | null>): void {
  useEffect(() => (cover.current === null ? undefined : silenceAround(cover.current)), [cover]);
}
