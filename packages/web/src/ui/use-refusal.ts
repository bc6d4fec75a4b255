import { useEffect, useReducer, useRef } from 'react';
import type { RefObject } from 'react';

/**
 * Focuses the first invalid field after a form was rejected. An effect does that, because React may render the
 * messages later than the next frame. If a dialog has opened in the meantime, the focus stays there.
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
