import { clsx } from 'clsx';
import { escapeBidiControls } from './encoding.ts';
import { markPieces, foundWithin } from './find-text.ts';
import type { Found } from './find-text.ts';

interface MarkedTextProps {
  readonly text: string;
  /** Position of the text in the searched text. */
  readonly offset?: number;
  readonly found: readonly Found[];
  /** Number of the first match in `found`. */
  readonly firstOrdinal?: number;
  readonly current?: number;
}

/** A text with its matches highlighted, and with direction controls as escapes. */
export function MarkedText({ text, offset = 0, found, firstOrdinal, current }: MarkedTextProps) {
  if (found.length === 0) return escapeBidiControls(text);
  return markPieces(text, offset, found, firstOrdinal).map(({ text: piece, ordinal, at }) =>
    ordinal === undefined ? (
      <span key={at}>{escapeBidiControls(piece)}</span>
    ) : (
      <mark key={at} className={clsx(ordinal === current && 'bg-accent text-accent-ink')}>
        {escapeBidiControls(piece)}
      </mark>
    ),
  );
}

const COLORS = {
  name: 'text-json-key',
  attribute: 'text-json-number',
  string: 'text-json-string',
  quiet: 'text-ink-3',
} as const;

/** Positions in a text that have a color. */
export interface ColoredRange extends Found {
  readonly color: keyof typeof COLORS;
}

interface ColoredTextProps {
  readonly text: string;
  /** Position of the text in the whole text. */
  readonly offset: number;
  /** Sorted, without overlaps, as positions in the whole text. */
  readonly colors: readonly ColoredRange[];
  /** All matches of the whole text, sorted. */
  readonly found: readonly Found[];
  readonly current: number;
}

/** A part of a text with its colors and highlighted matches. */
export function ColoredText({ text, offset, colors, found, current }: ColoredTextProps) {
  const end = offset + text.length;
  const marked = (start: number, stop: number) => {
    const [from, to] = foundWithin(found, start, stop);
    const piece = text.slice(start - offset, stop - offset);
    return (
      <MarkedText text={piece} offset={start} found={found.slice(from, to)} firstOrdinal={from} current={current} />
    );
  };
  const [first, after] = foundWithin(colors, offset, end);
  const pieces = [];
  let at = offset;
  for (const { start, end: stop, color } of colors.slice(first, after)) {
    const [from, to] = [Math.max(at, start), Math.min(end, stop)];
    if (from > at) pieces.push(<span key={at}>{marked(at, from)}</span>);
    pieces.push(
      <span key={from} className={COLORS[color]}>
        {marked(from, to)}
      </span>,
    );
    at = to;
  }
  return (
    <>
      {pieces}
      {at < end ? marked(at, end) : null}
    </>
  );
}
