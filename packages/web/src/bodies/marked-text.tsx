import { clsx } from 'clsx';
import { markPieces } from './find-text.ts';
import type { Found } from './find-text.ts';

export interface MarkedTextProps {
  readonly text: string;
  /** Where the text stands in what was searched. */
  readonly offset: number;
  readonly found: readonly Found[];
  /** Number of the first of `found` among all. */
  readonly firstPlace: number;
  readonly current: number;
  /** How a piece of it is written; as it is, without. */
  readonly write?: (piece: string) => string;
}

const asItIs = (piece: string): string => piece;

/** A text with what was found in it marked. */
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
