import { clsx } from 'clsx';
import type { ReactNode } from 'react';

/** A note above a body, for example that it was decoded or truncated. */
export function NoteLine({ className, children }: { readonly className?: string; readonly children: ReactNode }) {
  return (
    <div className={clsx('shrink-0 border-b border-line bg-sunk px-4 py-1.5 text-sm text-ink-2', className)}>
      {children}
    </div>
  );
}
