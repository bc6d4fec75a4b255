import { clsx } from 'clsx';
import type { ReactNode } from 'react';

export interface EmptyStateProps {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** True for an error, which is announced at once. */
  readonly error?: boolean;
  /** True if this is the whole page: the title is then the page's heading. */
  readonly page?: boolean;
  readonly className?: string;
}

/** Shown if there is no content: says why and what to do. */
export function EmptyState({
  icon,
  title,
  children,
  actions,
  error = false,
  page = false,
  className,
}: EmptyStateProps) {
  const Heading = page ? 'h1' : 'h2';
  return (
    <div
      role={error ? 'alert' : undefined}
      className={clsx('flex flex-col items-center gap-1 px-6 py-14 text-center', className)}
    >
      {icon === undefined ? null : (
        <div
          aria-hidden
          className={clsx(
            'mb-3 grid size-10 place-items-center rounded-lg [&_svg]:size-5',
            error ? 'bg-bad-soft text-bad' : 'bg-accent-soft text-accent',
          )}
        >
          {icon}
        </div>
      )}
      <Heading className="text-lg font-semibold">{title}</Heading>
      {children === undefined ? null : <div className="max-w-md text-ink-2">{children}</div>}
      {actions === undefined ? null : <div className="mt-4 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}
