import { clsx } from 'clsx';
import { markPieces } from './find-text.ts';
import type { Found } from './find-text.ts';

interface MarkedTextProps {
  readonly text: string;
  /** Position of the text in the searched text. */
  readonly offset: number;
  readonly found: readonly Found[];
  /** Number of the first match in `found`. */
  readonly firstPlace: number;
  readonly current: number;
  /** Transforms each piece before it is shown; unchanged by default. */
  readonly write?: (piece: string) => string;
}

const asItIs = (piece: string): string => piece;

/** A text with its matches highlighted. */
export function MarkedText({ text, offset, found, firstPlace, current, write = asItIs }: MarkedTextProps) {
  if (found.length === 0) return write(text);
  return markPieces(text, offset, found, firstPlace).map(({ text: piece, place, at }) =>
    place === undefined ? (
      <span key={at}>{write(piece)}</span>
    ) : (
      <mark key={at} className={clsx(place === current && 'bg-accent text-accent-ink')}>
        {write(piece)}
      </mark>
    ),
  );
}
