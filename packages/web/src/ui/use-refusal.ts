import { useEffect, useReducer, useRef } from 'react';
import type { RefObject } from 'react';

/**
 * A form that can be refused, by the page or by the server: `refused` brings the keyboard to its first wrong field. That happens
 * once the messages are drawn, whenever that is: after a server's answer React draws later than the next frame begins. Behind a
 * dialog that has come up meanwhile the keyboard stays in the dialog.
 */
export function useRefusal(): readonly [form: RefObject<HTMLFormElement | null>, refused: () => void] {
  const form = useRef<HTMLFormElement>(null);
  const [times, refused] = useReducer((before: number) => before + 1, 0);
  useEffect(() => {
    if (times === 0 || form.current === null || form.current.closest('[aria-hidden="true"]') !== null) return;
    form.current.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [times]);
  return [form, refused];
}
