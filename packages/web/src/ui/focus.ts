// Keyboard focus: when the focused element is removed, the focus moves to a near element instead of the start of the page.
import { useEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** True if the focused element was removed. */
export function isFocusLost(): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body;
}

function canTakeFocus(element: Element | null | undefined): element is HTMLElement {
  return (
    element instanceof HTMLElement &&
    element.isConnected &&
    !element.matches(':disabled') &&
    element.closest('[inert]') === null
  );
}

const mainPart = (): Element | null => document.getElementById('main');

/**
 * For a part that takes the focus when its focused descendant, such as a row, is removed. `selector`: of the descendant
 * that gets it. Until there is one, the part itself has the focus.
 */
export const keepsFocus = (selector = '') => ({ 'data-keeps-focus': selector, tabIndex: -1 }) as const;

const KEEPS_FOCUS = '[data-keeps-focus]';

function focusTargetIn(part: Element | undefined): Element | null {
  const selector = part?.getAttribute('data-keeps-focus') ?? '';
  return selector === '' ? null : (part?.querySelector(selector) ?? null);
}

/** The parts around an element that keep the focus, innermost first. */
function partsAround(element: Element): Element[] {
  const part = element.parentElement?.closest(KEEPS_FOCUS) ?? null;
  return part === null ? [] : [part, ...partsAround(part)];
}

/** Marks a layer that stays in the page: see `returnFocus`. */
export const IS_LAYER = { 'data-layer': '' } as const;

/** When one of these is removed, the focus returns to where it was before. */
const LAYERS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="search"], [data-layer]';

/** An element that had the focus. */
interface Holder {
  readonly element: Element;
  /** The innermost layer; null for the page. */
  readonly layer: Element | null;
  /** The parts around it that keep the focus, innermost first. */
  readonly parts: readonly Element[];
}

/** What had the focus last in the page and in each layer, in the order in which they got the focus. */
let holders: Holder[] = [];
/** A part that has the focus because its focus target is not there yet. */
let standIn: Element | undefined;
/** False after the user has left the focused element and focused no other. */
let isHeld = false;

function onFocus({ target }: FocusEvent): void {
  isHeld = true;
  standIn = undefined;
  // The main part has the focus only because its holder was removed, for example while code loads.
  if (!(target instanceof Element) || target === mainPart()) return;
  const layer = target.closest(LAYERS);
  const at = holders.findIndex((holder) => holder.layer === layer);
  const before = holders[at];
  // Radix focuses a dialog itself as soon as the focused element in it is removed.
  if (target === layer && before?.element.isConnected === false && focusFirst(targetsIn(before.parts))) return;
  holders.splice(at < 0 ? holders.length : at, Infinity, { element: target, layer, parts: partsAround(target) });
}

function onBlur({ target }: FocusEvent): void {
  standIn = undefined;
  // A removed element fires focusout first. One that only lost the focus is still there a moment later.
  setTimeout(() => {
    if (isFocusLost() && target instanceof Element && target.isConnected) isHeld = false;
  });
}

function onMutation(): void {
  const target = focusTargetIn(standIn);
  if (canTakeFocus(target)) target.focus({ preventScroll: true });
  else if (isHeld && isFocusLost()) setTimeout(recoverFocus);
}

/** Focuses the first of these that can take it: what was left for a removed layer, the parts around, and the main part. */
function recoverFocus(): void {
  if (!isFocusLost()) return;
  const removed = holders.at(-1);
  holders = holders.filter(({ layer }) => layer?.isConnected !== false);
  const left = holders.at(-1);
  focusFirst([left?.element, ...targetsIn([...(left?.parts ?? []), ...(removed?.parts ?? [])]), mainPart()]);
}

/** What can take the focus for these parts, in their order. */
const targetsIn = (parts: readonly Element[]): (Element | null)[] =>
  parts.filter((part) => part.isConnected).flatMap((part) => [focusTargetIn(part), part]);

/** Focuses the first of these that can take it. Returns false if none can. */
function focusFirst(candidates: readonly (Element | null | undefined)[]): boolean {
  for (const found of candidates) {
    if (!canTakeFocus(found)) continue;
    const { activeElement } = document;
    found.focus({ preventScroll: true });
    if (document.activeElement === activeElement) continue;
    standIn = found;
    return true;
  }
  return false;
}

/** Returns the focus to where it was before it moved into a layer that is now empty. */
export function returnFocus(layer: Element | null): void {
  holders = holders.filter((holder) => holder.layer !== layer);
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLElement) || layer?.contains(activeElement) !== true) return;
  activeElement.blur();
  recoverFocus();
}

/** Focuses a part that keeps the focus. Its focus target gets the focus as soon as it is there. */
export function focusPart(part: HTMLElement | null): void {
  const target = focusTargetIn(part ?? undefined);
  if (canTakeFocus(target)) target.focus();
  else part?.focus();
  standIn = part ?? undefined;
}

/**
 * Focuses a part that takes the place of another one when it is mounted. If nothing had the focus yet, the page opens
 * with this part, and the focus stays where the browser puts it.
 */
export function useFocusOnMount(part: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (holders.length > 0 || !isFocusLost()) part.current?.focus({ preventScroll: true });
  }, [part]);
}

/** Moves the focus when the focused element is removed. Call it once. */
export function followFocus(): void {
  document.addEventListener('focusin', onFocus);
  document.addEventListener('focusout', onBlur);
  new MutationObserver(onMutation).observe(document.body, { childList: true, subtree: true });
}

/** On the first page, the focus stays where the browser puts it. */
let hasArrived = false;

/** Moves the focus to a new page if nothing has it. `path` identifies the page. */
export function useFocusAfterLeaving(path: string): void {
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (hasArrived && shown.current !== path)
      setTimeout(() => {
        if (isFocusLost()) holders = [];
        recoverFocus();
      });
    hasArrived = true;
    shown.current = path;
  }, [path]);
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
