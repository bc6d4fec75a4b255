import { clsx } from 'clsx';

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
