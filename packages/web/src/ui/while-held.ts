import type { MouseEvent } from 'react';

/** What a control takes that rests while something is under way: it says so and lets presses come to nothing, yet keeps the focus. */
export function whileHeld(held: boolean) {
  return held ? ({ 'aria-disabled': true, onClick: refuse } as const) : {};
}

/** Keyboard presses arrive as clicks, and a form is sent by the click of its button. */
function refuse(press: MouseEvent): void {
  press.preventDefault();
  press.stopPropagation();
}
