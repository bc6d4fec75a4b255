import { clsx } from 'clsx';
import type { ReactNode } from 'react';

const TONES = {
  neutral: 'bg-sunk text-ink-2',
  accent: 'bg-accent-soft text-accent',
  success: 'bg-ok-soft text-ok',
  warning: 'bg-warn-soft text-warn',
  destructive: 'bg-bad-soft text-bad',
} as const;

interface BadgeProps {
  readonly tone?: keyof typeof TONES;
  /** Narrower, for a place where the text beside it needs the room. */
  readonly dense?: boolean;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A short label. Never truncated: the text beside it is truncated first. */
export function Badge({ tone = 'neutral', dense = false, children, className }: BadgeProps) {
  return (
    <span
      className={clsx(
        'inline-flex h-[18px] shrink-0 items-center rounded-sm text-xs font-medium whitespace-nowrap',
        dense ? 'px-1' : 'px-1.5',
        TONES[tone],
        className,
      )}
    >
      {children}
    </span>
  );
}

const COLORS: Readonly<Record<string, string>> = {
  GET: 'text-get',
  POST: 'text-post',
  PUT: 'text-put',
  PATCH: 'text-patch',
  DELETE: 'text-delete',
};

/**
 * The method in its color: GET green, POST blue, PUT amber, PATCH purple, DELETE red, other grey, 'UNKNOWN' if
 * missing.
 */
export function MethodBadge({
  method,
  className,
}: {
  readonly method: string | undefined;
  readonly className?: string;
}) {
  const name = method === undefined || method === '' ? 'UNKNOWN' : method.toUpperCase();
  return (
    <span className={clsx('font-mono text-xs font-semibold tracking-tight', COLORS[name] ?? 'text-other', className)}>
      {name}
    </span>
  );
}

const EXPLANATION =
  'The number of the request. An endpoint counts from 0. Links, the creel command and the x-creel-request header of the response to the sender have the same number.';

/** '#42', with an explanation as its tooltip, because the first request is '#0'. */
export function RequestNumber({ index }: { readonly index: number }) {
  return (
    <span title={EXPLANATION} className="text-ink-2">
      #{index}
    </span>
  );
}

/** The Source/Tag of an endpoint, as the user entered it or as it was detected. */
export function SourceTag({ source }: { readonly source: string | null }) {
  if (source === null) return null;
  return (
    // Unlike the badge itself, this gives way to the text beside it.
    <span className="ml-auto flex max-w-28 min-w-0">
      <Badge className="max-w-full">
        <span dir="auto" className="truncate" title={`Source/Tag: ${source}`}>
          {source}
        </span>
      </Badge>
    </span>
  );
}

/** Facts in a line, which may wrap. The dot before each hangs to its left, and is cut off at the start of a line. */
export const FACTS = '-ml-4 flex flex-wrap [clip-path:inset(0_0_0_1rem)]';
export const FACT = 'relative pl-4 before:absolute before:left-1.5 before:text-ink-2 before:content-["·"/""]';
