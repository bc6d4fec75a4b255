/* oxlint-disable jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable by keyboard */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import type { RefObject } from 'react';
import { FindBar, useSteps } from './find-bar.tsx';
import type { Find } from './find-bar.tsx';
import { findText } from './find-text.ts';
import type { Found } from './find-text.ts';
import { ColoredText } from './marked-text.tsx';
import type { ColoredRange } from './marked-text.tsx';
import { lineOfPosition, textLines, textOfLine } from './view-lines.ts';

const LINE_HEIGHT = 20;

/** Maximum number of characters that are rendered as one element, which the browser wraps and selects itself. */
const MAX_WRAPPED_LENGTH = 64 * 1024;

/** Characters per line of a longer text, as many as fit. */
const MIN_COLUMNS = 20;
const MAX_COLUMNS = 160;

interface TextViewProps {
  readonly text: string;
  /** Name for screen readers. */
  readonly label: string;
  readonly find?: Find;
  /** Sorted, without overlaps. */
  readonly colors?: readonly ColoredRange[];
}

const NO_COLORS: readonly never[] = [];

/** A text, character by character. It is never interpreted as HTML. */
export function TextView({ text, label, find, colors = NO_COLORS }: TextViewProps) {
  const wanted = useDeferredValue(find?.text ?? '');
  const found = useMemo(() => findText(text, wanted), [text, wanted]);
  const steps = useSteps(found.length, wanted);
  const Piece = text.length <= MAX_WRAPPED_LENGTH ? WholeText : LongText;
  return (
    <>
      {find?.text === undefined ? null : <FindBar find={find} count={found.length} searched={wanted} steps={steps} />}
      <Piece text={text} label={label} colors={colors} found={found} current={steps.current} />
    </>
  );
}

interface PieceProps {
  readonly text: string;
  readonly label: string;
  readonly colors: readonly ColoredRange[];
  readonly found: readonly Found[];
  readonly current: number;
}

const FRAME =
  'min-h-0 grow scroll-py-10 overflow-auto border-t border-line px-4 py-2 font-mono text-sm leading-5 outline-offset-[-2px] [tab-size:4]';

function WholeText({ text, label, colors, found, current }: PieceProps) {
  const frame = useRef<HTMLPreElement>(null);
  const currentMatch = found[current];
  useEffect(() => {
    if (currentMatch !== undefined)
      frame.current?.querySelectorAll('mark')[current]?.scrollIntoView({ block: 'nearest' });
  }, [currentMatch, current]);
  return (
    <pre
      ref={frame}
      role="region"
      aria-label={label}
      tabIndex={0}
      className={`${FRAME} wrap-anywhere whitespace-pre-wrap`}
    >
      <ColoredText text={text} offset={0} colors={colors} found={found} current={current} />
    </pre>
  );
}

/** How many characters fit beside each other. `ruler` is as wide as 100. Updates when the frame or the font changes. */
function useColumns(frame: RefObject<HTMLElement | null>, ruler: RefObject<HTMLElement | null>): number {
  const [columns, setColumns] = useState(MAX_COLUMNS);
  useEffect(() => {
    if (frame.current === null || ruler.current === null) return;
    const [outer, inner] = [frame.current, ruler.current];
    const observer = new ResizeObserver(() => {
      const { paddingLeft, paddingRight } = getComputedStyle(outer);
      const room = outer.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      const fitting = Math.floor((100 * room) / inner.getBoundingClientRect().width);
      if (fitting > 0) setColumns(Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, fitting)));
    });
    observer.observe(outer);
    observer.observe(inner);
    return () => observer.disconnect();
  }, [frame, ruler]);
  return columns;
}

function LongText({ text, label, colors, found, current }: PieceProps) {
  const frame = useRef<HTMLDivElement>(null);
  const ruler = useRef<HTMLDivElement>(null);
  const columns = useColumns(frame, ruler);
  const lines = useMemo(() => textLines(text, columns), [text, columns]);
  const virtual = useVirtualizer({
    count: lines.count,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
    scrollPaddingStart: 2 * LINE_HEIGHT,
    scrollPaddingEnd: 2 * LINE_HEIGHT,
  });
  const currentMatch = found[current];
  useEffect(() => {
    if (currentMatch !== undefined) virtual.scrollToIndex(lineOfPosition(lines, currentMatch.start), { align: 'auto' });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- follows the match that is shown, not every scroll
  }, [currentMatch, lines]);
  return (
    <div ref={frame} data-partial role="region" aria-label={label} tabIndex={0} className={FRAME}>
      <div ref={ruler} aria-hidden className="invisible absolute w-[100ch]" />
      <div className="relative min-w-max" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const line = textOfLine(lines, index);
          const offset = lines.starts[index] ?? 0;
          return (
            <div
              key={index}
              className="absolute top-0 left-0 whitespace-pre"
              style={{ transform: `translateY(${start}px)` }}
            >
              <ColoredText text={line} offset={offset} colors={colors} found={found} current={current} />
            </div>
          );
        })}
      </div>
    </div>
  );
}
