import type { MouseEvent } from 'react';

/** Props of a control that ignores presses during an action. It announces that and keeps the focus. */
export function busyProps(busy: boolean) {
  return busy ? ({ 'aria-disabled': true, onClick: refuse } as const) : {};
}

/** Key presses arrive as clicks, and a form is submitted by a click on its button. */
function refuse(press: MouseEvent): void {
  press.preventDefault();
  press.stopPropagation();
}
