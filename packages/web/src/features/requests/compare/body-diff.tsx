import { clsx } from 'clsx';
import { useMemo } from 'react';
import type { DiffLine, DiffRow } from './diff.ts';

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
      <tbody>
        {shown.map((row, place) => (
          <tr key={place} className="align-top">
            <Side line={row.left} number={row.left?.left} tone="bg-bad-soft" />
            <Side line={row.right} number={row.right?.right} tone="bg-ok-soft" />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Side({
  line,
  number,
  tone,
}: {
  readonly line: DiffLine | undefined;
  readonly number: number | undefined;
  readonly tone: string;
}) {
  return (
    // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell of a table, no control
    <td className={clsx('border-line not-first:border-l', line !== undefined && line.mark !== 'same' && tone)}>
      <div className="flex min-h-5 leading-5">
        <span aria-hidden className="w-10 shrink-0 pr-2 text-right text-ink-3 select-none">
          {number}
        </span>
        <span className="min-w-0 grow pr-3 wrap-anywhere whitespace-pre-wrap">{line?.text}</span>
      </div>
    </td>
  );
}

function nearChanges(rows: readonly DiffRow[]): DiffRow[] {
  const changed = rows.map(({ left, right }) => left !== right);
  return rows.filter((_, place) => changed.slice(Math.max(0, place - AROUND), place + AROUND + 1).includes(true));
}
