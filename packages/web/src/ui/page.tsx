import { clsx } from 'clsx';
import { ShoppingBasket } from 'lucide-react';
import { useEffect } from 'react';
import type { ReactNode, ComponentProps } from 'react';
import { keepsFocus, useFocusAfterLeaving } from './focus.ts';
import { signal } from './state.ts';

/** The title of the page on the screen. */
export const pageTitle = signal('');

/** Sets the title of the browser tab. `unseen`: a number before it; 0 for none. */
export function useTitle(title: string, unseen = 0): void {
  useEffect(() => {
    pageTitle.set(title);
    const shown = unseen > 0 ? `(${unseen}) ${title}` : title;
    document.title = shown === '' ? 'Creel' : `${shown} · Creel`;
  }, [title, unseen]);
}

interface PageProps {
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

interface PublicLayoutProps {
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
    <main id="main" tabIndex={-1} className="h-full overflow-y-auto outline-offset-[-2px]">
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

/** The name of the app with its sign. */
export function Logo({ className }: { readonly className?: string }) {
  return (
    <span className={clsx('inline-flex items-center gap-2 text-lg font-semibold tracking-tight', className)}>
      <ShoppingBasket aria-hidden className="size-5 text-accent" />
      Creel
    </span>
  );
}

/** Shown until the server answers whether a user is logged in. */
export function StartPage() {
  return (
    <div role="status" aria-label="Loading" className="grid h-full place-items-center">
      <Logo className="animate-pulse-soft" />
    </div>
  );
}

/** A panel with a border. */
export function Card({ className, ...rest }: ComponentProps<'div'>) {
  return <div className={clsx('rounded-lg border border-line bg-panel', className)} {...rest} />;
}

interface SectionCardProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  readonly footer?: ReactNode;
  readonly destructive?: boolean;
}

/** A titled section of a page with forms. */
export function SectionCard({ title, description, children, footer, destructive = false }: SectionCardProps) {
  return (
    // Its buttons can remove themselves.
    <section
      {...keepsFocus()}
      className={clsx('rounded-lg border bg-panel', destructive ? 'border-bad/40' : 'border-line')}
    >
      <div className="p-5">
        <h2 className="text-lg font-semibold">{title}</h2>
        {description === undefined ? null : <div className="mt-0.5 text-ink-2">{description}</div>}
        {children === undefined ? null : <div className="mt-4">{children}</div>}
      </div>
      {footer === undefined ? null : (
        <div className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-5 py-3">{footer}</div>
      )}
    </section>
  );
}

interface FactListProps {
  readonly facts: readonly { readonly name: string; readonly value: ReactNode }[];
}

/** Names and values, one pair per line. */
export function FactList({ facts }: FactListProps) {
  return (
    <dl className="flex flex-col gap-1.5">
      {facts.map(({ name, value }) => (
        <div key={name} className="flex justify-between gap-4">
          <dt className="text-ink-2">{name}</dt>
          <dd className="text-end font-medium wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
