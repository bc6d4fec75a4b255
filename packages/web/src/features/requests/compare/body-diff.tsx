import { clsx } from 'clsx';
import { useMemo } from 'react';
import type { DiffRow } from './diff.ts';
import { DiffSign, DiffText } from './diff-text.tsx';
import type { DiffSide } from './diff-text.tsx';
import { diffWords } from './word-diff.ts';
import type { TextPart } from './word-diff.ts';

/** Lines of context around a difference. */
const AROUND = 3;

/** Maximum of rows that are rendered. */
const MAX_ROWS = 3000;

/** Both bodies line by line, side by side. Long unchanged parts are collapsed. */
export function BodyDiff({ rows, onlyChanges }: { readonly rows: readonly DiffRow[]; readonly onlyChanges: boolean }) {
  const shown = useMemo(() => (onlyChanges ? nearChanges(rows) : rows).slice(0, MAX_ROWS), [rows, onlyChanges]);
  if (shown.length === 0) return <p className="px-4 py-3 text-ink-2">The bodies are the same.</p>;
  return (
    <table aria-label="Body" className="w-full table-fixed border-collapse font-mono text-sm">
      <thead className="sr-only">
        <tr>
          <th scope="col">Left</th>
          <th scope="col">Right</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((row) => (
          <BodyRow key={`${row.left?.left}-${row.right?.right}`} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function BodyRow({ row: { left, right } }: { readonly row: DiffRow }) {
  const isSame = left === right;
  const words = useMemo(
    () =>
      isSame
        ? { left: [{ text: left?.text ?? '', changed: false }], right: [{ text: right?.text ?? '', changed: false }] }
        : diffWords(left?.text ?? '', right?.text ?? ''),
    [isSame, left?.text, right?.text],
  );
  return (
    <tr className="align-top">
      <Side side="left" number={left?.left} parts={left && words.left} isSame={isSame} />
      <Side side="right" number={right?.right} parts={right && words.right} isSame={isSame} />
    </tr>
  );
}

interface SideProps {
  readonly side: DiffSide;
  readonly number: number | undefined;
  /** Missing if this side has no such line. */
  readonly parts: readonly TextPart[] | undefined;
  readonly isSame: boolean;
}

function Side({ side, number, parts, isSame }: SideProps) {
  const tone = side === 'left' ? 'bg-bad-soft' : 'bg-ok-soft';
  return (
    <td className={clsx('border-line not-first:border-l', parts !== undefined && !isSame && tone)}>
      <div className="flex min-h-5 leading-5">
        <span aria-hidden className="w-10 shrink-0 pr-2 text-right text-ink-3 select-none">
          {number}
        </span>
        {parts === undefined || isSame ? <span className="w-4 shrink-0" /> : <DiffSign side={side} />}
        <span className="min-w-0 grow pr-3 wrap-anywhere whitespace-pre-wrap">
          {parts === undefined ? <span className="sr-only">No such line</span> : <DiffText parts={parts} side={side} />}
        </span>
      </div>
    </td>
  );
}

function nearChanges(rows: readonly DiffRow[]): DiffRow[] {
  const changed = rows.map(({ left, right }) => left !== right);
  return rows.filter((_, place) => changed.slice(Math.max(0, place - AROUND), place + AROUND + 1).includes(true));
}
