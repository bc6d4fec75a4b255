import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { CircleAlert, CircleCheck, CloudOff, Info } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, InlineButton } from './button.tsx';

interface EmptyStateProps {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** True for an error, which is announced at once. */
  readonly error?: boolean;
  /** True if this is the whole page: it is centered, and the title is the page's heading. */
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
      className={clsx(
        'flex flex-col items-center gap-1 px-6 py-14 text-center',
        page && 'h-full justify-center',
        className,
      )}
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

interface LoadErrorProps extends Pick<EmptyStateProps, 'title' | 'children' | 'page'> {
  readonly onRetry: () => void;
  /** True while it is loaded again. */
  readonly isTrying?: boolean;
}

/** Shown if content could not be loaded. */
export function LoadError({ onRetry, isTrying = false, ...state }: LoadErrorProps) {
  const retry = (
    <Button busy={isTrying} onClick={onRetry}>
      {isTrying ? 'Trying…' : 'Try again'}
    </Button>
  );
  return <EmptyState {...state} error icon={<CloudOff />} actions={retry} />;
}

const TONES = {
  bad: { look: 'bg-bad-soft text-bad', Icon: CircleAlert },
  good: { look: 'bg-ok-soft text-ok', Icon: CircleCheck },
  info: { look: 'bg-sunk text-ink-2', Icon: Info },
  warn: { look: 'bg-warn-soft text-warn', Icon: CircleAlert },
} as const;

interface NoticeProps {
  readonly tone?: keyof typeof TONES;
  /** Adds a button to try again. */
  readonly onRetry?: () => void;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A message about a form or page. Errors are announced at once, other messages politely. */
export function Notice({ tone = 'info', onRetry, children, className }: NoticeProps) {
  const { look, Icon } = TONES[tone];
  return (
    <div
      role={tone === 'bad' ? 'alert' : 'status'}
      className={clsx('flex items-start gap-2 rounded-md px-3 py-2', look, className)}
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 wrap-anywhere">
        {children}
        {onRetry === undefined ? null : (
          <>
            {' '}
            <InlineButton onClick={onRetry}>Try again</InlineButton>
          </>
        )}
      </div>
    </div>
  );
}

/** Placeholder of content that is loading, in a `Loading` or an element that announces it. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <div aria-hidden className={clsx('rounded-md bg-skeleton animate-pulse-soft', className)} />;
}

interface LoadingProps {
  /** What loads, for screen readers. */
  readonly label: string;
  /** Classes of each placeholder, from top to bottom. */
  readonly bars: readonly string[];
  readonly className?: string;
}

/** Placeholders of content that is loading, and a label that is announced. */
export function Loading({ label, bars, className = 'gap-2' }: LoadingProps) {
  return (
    <div role="status" aria-label={label} className={clsx('flex flex-col', className)}>
      {bars.map((bar, position) => (
        <Skeleton key={position} className={bar} />
      ))}
    </div>
  );
}

const ROWS = [0, 1, 2, 3, 4, 5, 6, 7];

/** Placeholder of a list of requests. */
export function SkeletonRows() {
  return ROWS.map((row) => (
    <div key={row} className="flex h-9 items-center gap-4 border-b border-line px-6">
      <Skeleton className="h-3 w-10" />
      <Skeleton className="h-3 w-14" />
      <Skeleton className="h-3 grow" />
      <Skeleton className="h-3 w-12" />
    </div>
  ));
}

/** A link to the plans, shown at a limit of the current plan. */
export function UpgradeLink({ onClick }: { readonly onClick?: () => void }) {
  return (
    <Link to="/subscription" onClick={onClick} className="font-medium underline underline-offset-2">
      Upgrade
    </Link>
  );
}
