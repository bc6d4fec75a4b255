import { clsx } from 'clsx';
import type { TextPart } from './word-diff.ts';

/** The side of the comparison. What only the left has was removed, what only the right has was added. */
export type DiffSide = 'left' | 'right';

interface DiffTextProps {
  readonly parts: readonly TextPart[];
  readonly side: DiffSide;
}

/** A text with its changed words marked. Screen readers are told where a change starts and ends. */
export function DiffText({ parts, side }: DiffTextProps) {
  const Mark = side === 'left' ? 'del' : 'ins';
  let at = 0;
  return parts.map(({ text, changed }) => {
    const key = at;
    at += text.length;
    if (!changed || text === '') return <span key={key}>{text}</span>;
    return (
      <Mark key={key} className={clsx('rounded-xs no-underline', side === 'left' ? 'bg-bad/30' : 'bg-ok/30')}>
        <span className="sr-only">{side === 'left' ? '[removed: ' : '[added: '}</span>
        {text}
        <span className="sr-only">]</span>
      </Mark>
    );
  });
}

/** The visible sign of a changed line or field. */
export function DiffSign({ side }: { readonly side: DiffSide }) {
  return (
    <span aria-hidden className={clsx('w-4 shrink-0 select-none', side === 'left' ? 'text-bad' : 'text-ok')}>
      {side === 'left' ? '−' : '+'}
    </span>
  );
}
