import { clsx } from 'clsx';
import { useEffect, useState } from 'react';
import { counted, formatCount } from './format.ts';

interface MatchCountProps {
  readonly matches: number;
  /** Number of stored requests that were searched so far. */
  readonly searched: number;
  /** Number of stored requests. */
  readonly total: number;
  /** `paused`: there may be more matches, which are loaded on demand. */
  readonly progress: 'searching' | 'paused' | 'complete' | 'failed';
  readonly onRetry: () => void;
  readonly className?: string;
}

/** '12 matches in 10,040 requests', or how much was searched so far. */
export function MatchCount(props: MatchCountProps) {
  const { progress, onRetry, className } = props;
  const [matches, extent] = matchTexts(props);
  return (
    <span className={className}>
      <SettledStatus text={progress === 'searching' ? '' : `${matches} ${extent}`} />
      <span aria-hidden className="whitespace-nowrap">
        {matches} {extent}
      </span>
      {progress === 'failed' ? (
        <button type="button" className="ml-2 font-medium text-accent hover:underline" onClick={onRetry}>
          Try again
        </button>
      ) : null}
    </span>
  );
}

/** The number of matches, and the number of requests in which they were found. */
function matchTexts({ matches, searched, total, progress }: Omit<MatchCountProps, 'onRetry'>): [string, string] {
  // The number of stored requests is updated once a second and can lag behind.
  const all = Math.max(total, matches);
  const requests = counted(all, 'request');
  const count = `${formatCount(matches)}${progress === 'paused' ? '+' : ''} ${matches === 1 ? 'match' : 'matches'}`;
  if (progress === 'complete') return [count, `in ${requests}`];
  const extent = `in ${formatCount(Math.min(searched, all))} of ${requests}`;
  return [count, progress === 'failed' ? `${extent}. The search stopped.` : extent];
}

/** Milliseconds without a change before a text is announced. */
const SETTLED_MS = 1500;

/** Announces a text that changes quickly, such as a progress, after it has settled. The visible text is `aria-hidden`. */
export function SettledStatus({ text }: { readonly text: string }) {
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <span role="status" className="sr-only">
      {settled}
    </span>
  );
}

interface ProgressBarProps {
  readonly label: string;
  readonly value: number;
  /** `undefined` while the end is not known. */
  readonly max: number | undefined;
  readonly className?: string;
}

const BAR =
  'h-1.5 appearance-none overflow-hidden rounded-full bg-line [&::-webkit-progress-bar]:bg-line ' +
  '[&::-webkit-progress-value]:bg-accent [&::-moz-progress-bar]:bg-accent';

/** A progress bar; without `max` one that shows no amount. */
export function ProgressBar({ label, value, max, className }: ProgressBarProps) {
  return (
    <progress
      aria-label={label}
      value={max === undefined ? undefined : value}
      max={max}
      className={clsx(BAR, max === undefined && 'animate-pulse-soft', className)}
    />
  );
}
