import { clsx } from 'clsx';
import type { ReactNode } from 'react';

export interface KbdProps {
  readonly children: ReactNode;
  /** True if the key is not only a hint beside a control. A hint would become part of the control's name. */
  readonly isRead?: boolean;
  readonly className?: string;
}

/** A key. */
export function Kbd({ children, isRead = false, className }: KbdProps) {
  return (
    <kbd
      aria-hidden={isRead ? undefined : true}
      className={clsx(
        'inline-flex h-4 min-w-4 items-center justify-center rounded-sm border border-line-strong bg-sunk px-1 text-[0.625rem] leading-none text-ink-2',
        className,
      )}
    >
      {children}
    </kbd>
  );
}
