import type { ReactNode } from 'react';
import { Tooltip } from './button.tsx';

/** Makes a control ignore presses. It can still be focused, so that the keyboard reaches the reason, too. */
interface BlockedProps {
  readonly busy?: true;
  readonly 'aria-description'?: string;
}

interface ReasonProps {
  /** Why the control does nothing; `undefined` if it works. */
  readonly text: string | undefined;
  readonly children: (blocked: BlockedProps) => ReactNode;
}

/** A control with the reason why it is disabled, as its description and as its tooltip. */
export function Reason({ text, children }: ReasonProps) {
  if (text === undefined) return children({});
  return <Tooltip text={text}>{children({ busy: true, 'aria-description': text })}</Tooltip>;
}
