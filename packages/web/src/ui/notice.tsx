import { clsx } from 'clsx';
import { CircleAlert, CircleCheck, Info } from 'lucide-react';
import type { ReactNode } from 'react';

const TONES = {
  bad: { look: 'bg-bad-soft text-bad', Icon: CircleAlert },
  good: { look: 'bg-ok-soft text-ok', Icon: CircleCheck },
  info: { look: 'bg-sunk text-ink-2', Icon: Info },
  warn: { look: 'bg-warn-soft text-warn', Icon: CircleAlert },
} as const;

export interface NoticeProps {
  readonly tone?: keyof typeof TONES;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A message about a form or page. Errors are announced at once, other messages politely. */
export function Notice({ tone = 'info', children, className }: NoticeProps) {
  const { look, Icon } = TONES[tone];
  return (
    <div
      role={tone === 'bad' ? 'alert' : 'status'}
      className={clsx('flex items-start gap-2 rounded-md px-3 py-2', look, className)}
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 wrap-anywhere">{children}</div>
    </div>
  );
}
