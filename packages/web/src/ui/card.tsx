import { clsx } from 'clsx';
import type { ComponentProps, ReactNode } from 'react';

export function Card({ className, ...rest }: ComponentProps<'div'>) {
  return <div className={clsx('rounded-lg border border-line bg-panel', className)} {...rest} />;
}

export interface SectionCardProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  readonly footer?: ReactNode;
  readonly destructive?: boolean;
}

/** A titled section of a page with forms. */
export function SectionCard({ title, description, children, footer, destructive = false }: SectionCardProps) {
  return (
    <section className={clsx('rounded-lg border bg-panel', destructive ? 'border-bad/40' : 'border-line')}>
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
