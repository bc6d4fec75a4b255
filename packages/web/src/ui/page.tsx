import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { useTitle } from './use-title.ts';

export interface PageProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly before?: ReactNode;
  readonly actions?: ReactNode;
  /** Limits the width, for pages with forms. */
  readonly narrow?: boolean;
  readonly children: ReactNode;
}

/** A page with a heading, beside the sidebar. */
export function Page({ title, description, before, actions, narrow = false, children }: PageProps) {
  useTitle(title);
  return (
    <div className={clsx('mx-auto flex w-full flex-col gap-5 px-5 py-6 sm:px-8', narrow ? 'max-w-3xl' : 'max-w-6xl')}>
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0">
          {before}
          <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
          {description === undefined ? null : <p className="mt-0.5 text-ink-2">{description}</p>}
        </div>
        {actions}
      </header>
      {children}
    </div>
  );
}
