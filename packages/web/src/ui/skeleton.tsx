import { clsx } from 'clsx';

/** Holds the place of what is still coming. The wait itself is announced by the screen that shows it. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <div aria-hidden className={clsx('rounded-md bg-skeleton animate-pulse-soft', className)} />;
}
