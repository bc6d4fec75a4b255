import type { ReactNode } from 'react';
import { useFocusAfterLeaving } from './focus.ts';
import { Logo } from './logo.tsx';
import { useTitle } from './use-title.ts';

export interface PublicLayoutProps {
  readonly title: string;
  readonly heading: string;
  readonly description: string;
  readonly children: ReactNode;
}

/** A narrow centered column without the sidebar: login, emailed links, and the test gateway. */
export function PublicLayout({ title, heading, description, children }: PublicLayoutProps) {
  useTitle(title);
  useFocusAfterLeaving(heading);
  return (
    <main id="main" tabIndex={-1} className="h-full overflow-y-auto outline-none">
      <div className="mx-auto flex min-h-full w-full max-w-sm flex-col gap-6 px-4 pt-[max(2.5rem,14dvh)] pb-10">
        <div className="flex flex-col gap-4">
          <Logo />
          <div>
            <h1 className="text-2xl font-semibold tracking-tight">{heading}</h1>
            <p className="mt-1 text-ink-2">{description}</p>
          </div>
        </div>
        {children}
      </div>
    </main>
  );
}
