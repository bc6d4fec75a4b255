// Keyboard focus: what is removed while it has the focus decides where the focus moves.
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { RefObject } from 'react';

/** True if the focused element was removed. */
export function isFocusLost(): boolean {
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

/** After the focused element was removed: focuses the first of these elements that can take the focus. */
function recoverFocus(...places: (() => Element | null | undefined)[]): void {
  setTimeout(() => {
    if (!isFocusLost()) return;
    for (const place of places) {
      const element = place();
      if (!canTake(element)) continue;
      element.focus({ preventScroll: true });
      if (!isFocusLost()) return;
    }
  });
}

const KEEPS_FOCUS = 'data-keeps-focus';

const mainPart = () => document.getElementById('main');

/** The list of captured requests, which gets the focus after something that covered it has closed. */
export const listElement = (): HTMLElement | null => document.querySelector<HTMLElement>('[role="grid"]');

/** Where the focus was when a dialog opened, and the part around it that gets the focus if that is gone. */
interface Opener {
  readonly element: Element | null;
  readonly keeper: Element | null;
}

/** The opener of a dialog that is being removed. A dialog that replaces it in the same moment takes it over. */
let leftOpener: Opener | undefined;

/** Returns the focus when a modal Radix dialog closes. Radix only returns it to its own trigger. */
export function useFocusBack() {
  const opener = useRef<Opener>(undefined);
  useEffect(
    () => () => {
      leftOpener = opener.current;
      setTimeout(() => (leftOpener = undefined));
    },
    [],
  );
  return {
    remember: () => {
      const element = document.activeElement;
      const own = { element, keeper: element?.closest(`[${KEEPS_FOCUS}]`) ?? null };
      opener.current = isFocusLost() ? (leftOpener ?? own) : own;
    },
    onCloseAutoFocus: (closing: Event) => {
      closing.preventDefault();
      const { element = null, keeper = null } = opener.current ?? {};
      if (element === null || element === document.body) return;
      // What the dialog did can remove its opener.
      recoverFocus(
        () => element,
        () => keeper,
        mainPart,
      );
    },
  };
}

/**
 * For an element that takes the focus while it is mounted. Afterwards the focus returns to where it was. If that was
 * nowhere, or the main part as a whole, it moves to the element that `otherwise` finds.
 */
export function useFocusReturn(otherwise: () => Element | null | undefined = mainPart): void {
  // The main part has the focus only because its holder was removed, for example while the code of this element loaded.
  const [opener] = useState(() => (document.activeElement === mainPart() ? null : document.activeElement));
  const last = useEffectEvent(otherwise);
  useEffect(
    () => () =>
      recoverFocus(
        () => opener,
        () => last(),
      ),
    [opener],
  );
}

/** On the first page, the focus stays where the browser puts it. */
let hasArrived = false;

/** Moves the focus to the main part of a new page if the focused element was removed. `path` identifies the page. */
export function useFocusAfterLeaving(path: string): void {
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (hasArrived && shown.current !== path) recoverFocus(mainPart);
    hasArrived = true;
    shown.current = path;
  }, [path]);
}

/**
 * Takes the focus when a focused descendant, such as a row, is removed. Moves it to the element that `place` finds.
 * Until there is one, the element itself has the focus and needs a `tabIndex`. The innermost mounted ancestor wins.
 */
export function useFocusKept(frame: RefObject<HTMLElement | null>, place?: () => Element | null | undefined): void {
  const first = useEffectEvent(() => place?.());
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    element.toggleAttribute(KEEPS_FOCUS, true);
    let held: Element | undefined;
    let keeper: Element | null = null;
    const onIn = ({ target }: FocusEvent): void => {
      held = target instanceof Element ? target : undefined;
      // A list that has the focus itself can be replaced by another one.
      keeper = held?.parentElement?.closest(`[${KEEPS_FOCUS}]`) ?? null;
    };
    const onOut = ({ target }: FocusEvent): void => {
      // A removed element fires focusout first. One that only lost the focus is still there a moment later.
      setTimeout(() => {
        if (held === target && target instanceof Element && target.isConnected) held = undefined;
      });
    };
    const watch = new MutationObserver(() => {
      const found = first();
      if (document.activeElement === element && canTake(found)) return found.focus({ preventScroll: true });
      if (held === undefined || held.isConnected) return;
      held = undefined;
      if (keeper !== element && keeper?.isConnected === true) return;
      recoverFocus(
        () => first(),
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

/** Marks elements that stay usable beside something that covers the page. */
export const STAYS_INTERACTIVE = { 'data-stays-beside': '' } as const;

/** Makes everything outside an element inert. The returned function reverts it. */
function makeSurroundingsInert(cover: Element): () => void {
  const madeInert: Element[] = [];
  for (let on = cover; on.parentElement !== null && on.parentElement.id !== 'root'; on = on.parentElement) {
    for (const sibling of on.parentElement.children) {
      if (sibling === on || sibling.matches('[data-stays-beside], [inert]')) continue;
      sibling.toggleAttribute('inert', true);
      madeInert.push(sibling);
    }
  }
  return () => {
    for (const element of madeInert) element.toggleAttribute('inert', false);
  };
}

/** Makes the rest of the page inert while the element is mounted, except for toasts and marked elements. */
export function useInertSurroundings(cover: RefObject<HTMLElement | null>): void {
  useEffect(() => (cover.current === null ? undefined : makeSurroundingsInert(cover.current)), [cover]);
}
