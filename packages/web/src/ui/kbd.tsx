import { clsx } from 'clsx';
import type { ReactNode } from 'react';

/** A key. */
export function Kbd({ children, className }: { readonly children: ReactNode; readonly className?: string }) {
  return (
    <kbd
      className={clsx(
        'inline-flex h-4 min-w-4 items-center justify-center rounded-sm border border-line-strong bg-sunk px-1 text-[0.625rem] leading-none text-ink-2',
        className,
      )}
    >
      {children}
    </kbd>
  );
}
