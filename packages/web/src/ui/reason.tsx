import type { ReactNode } from 'react';
import { Tooltip } from './button.tsx';

interface ReasonProps {
  /** Why the control is disabled; `undefined` if it is not. */
  readonly text: string | undefined;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A control with the reason why it is disabled. The pointer finds it, although a disabled control has no events. */
export function Reason({ text, className, children }: ReasonProps) {
  if (text === undefined) return children;
  return (
    <Tooltip text={text}>
      <span title={text} className={className}>
        {children}
      </span>
    </Tooltip>
  );
}
