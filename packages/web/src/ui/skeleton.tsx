import { clsx } from 'clsx';

/** Placeholder of content that is loading. The screen announces the wait. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <div aria-hidden className={clsx('rounded-md bg-skeleton animate-pulse-soft', className)} />;
}
