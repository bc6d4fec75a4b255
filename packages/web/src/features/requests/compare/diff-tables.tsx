import { clsx } from 'clsx';
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { escapeBidiControls, readable } from '../../../bodies/encoding.ts';
import { NoteLine } from '../../../bodies/note-line.tsx';
import { formatCount } from '../../../ui/format.ts';
import type { Comparison } from './compare-query.ts';
import { diffWords, sideBySide } from './diff.ts';
import type { DiffRow, TextPart, FieldDiff } from './diff.ts';

/** Lines of context around a difference. */
const AROUND = 3;

/** Maximum number of rows that are rendered. */
const MAX_ROWS = 3000;

type BodyDiffProps = Comparison['body'] & { readonly onlyChanges: boolean };

/** Both bodies line by line, side by side. Long unchanged parts are collapsed. */
export function BodyDiff({ lines, sentence, onlyChanges }: BodyDiffProps) {
  const rows = useMemo(() => sideBySide(lines ?? []), [lines]);
  const wanted = useMemo(() => (onlyChanges ? nearChanges(rows) : rows), [rows, onlyChanges]);
  return (
    <>
      {rows.some(isChanged) ? null : <p className="px-4 py-3 text-ink-2">{sentence}</p>}
      {wanted.length === 0 ? null : (
        <DiffTable label="Body">
          {wanted.slice(0, MAX_ROWS).map((row) => (
            <BodyRow key={`${row.left?.left}-${row.right?.right}`} row={row} />
          ))}
        </DiffTable>
      )}
      {wanted.length <= MAX_ROWS ? null : (
        <NoteLine>
          The first {formatCount(MAX_ROWS)} of {formatCount(wanted.length)} lines.
        </NoteLine>
      )}
    </>
  );
}

const isChanged = ({ left, right }: DiffRow): boolean => left !== right;

function BodyRow({ row: { left, right } }: { readonly row: DiffRow }) {
  const isSame = left === right;
  const words = useMemo(() => diffWords(left?.text ?? '', right?.text ?? ''), [left?.text, right?.text]);
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
        <span aria-hidden className="w-12 shrink-0 pr-2 text-right text-ink-3 select-none">
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
  const changed = rows.map(isChanged);
  return rows.filter((_, position) =>
    changed.slice(Math.max(0, position - AROUND), position + AROUND + 1).includes(true),
  );
}

interface FieldDiffTableProps {
  readonly title: string;
  readonly fields: readonly FieldDiff[];
  /** Shown if there are no fields. */
  readonly none: string;
}

/** The title of a part of the comparison. */
export function DiffTitle({ children }: { readonly children: string }) {
  return <h3 className="border-b border-line bg-sunk px-4 py-1.5 text-sm font-medium text-ink-2">{children}</h3>;
}

/** The fields of both sides by name, with differences marked word by word. */
export function FieldDiffTable({ title, fields, none }: FieldDiffTableProps) {
  return (
    <>
      <DiffTitle>{title}</DiffTitle>
      {fields.length === 0 ? (
        <p className="px-4 py-3 text-ink-2">{none}</p>
      ) : (
        <DiffTable label={title}>
          {fields.map((field) => (
            <tr key={field.name} className="border-b border-line align-top">
              <Cell field={field} side="left" />
              <Cell field={field} side="right" />
            </tr>
          ))}
        </DiffTable>
      )}
    </>
  );
}

function Cell({ field, side }: { readonly field: FieldDiff; readonly side: DiffSide }) {
  const { name, same } = field;
  const values = field[side];
  const others = side === 'left' ? field.right : field.left;
  const tone = side === 'left' ? 'bg-bad-soft' : 'bg-ok-soft';
  return (
    <td
      className={clsx(
        'px-4 py-1 wrap-anywhere not-first:border-l not-first:border-line',
        !same && values.length > 0 && tone,
      )}
    >
      {values.length === 0 ? <span className="sr-only">No {name}</span> : null}
      {values.map((value, position) => (
        <div key={position} className="flex">
          {same ? <span className="w-4 shrink-0" /> : <DiffSign side={side} />}
          <span className="min-w-0">
            <span className="text-ink-2">{name}: </span>
            <DiffText parts={partsOf(value, others[position], side)} side={side} />
          </span>
        </div>
      ))}
    </td>
  );
}

/** A value that the other side does not have is changed as a whole. */
function partsOf(value: string, other: string | undefined, side: DiffSide) {
  const shown = readable(value);
  if (other === undefined) return [{ text: shown, changed: true }];
  return side === 'left' ? diffWords(shown, readable(other)).left : diffWords(readable(other), shown).right;
}

/** The side of the comparison. What only the left has was removed, what only the right has was added. */
type DiffSide = 'left' | 'right';

interface DiffTextProps {
  readonly parts: readonly TextPart[];
  readonly side: DiffSide;
}

/** A text with its changed words marked. Screen readers read where a change starts and ends. */
function DiffText({ parts, side }: DiffTextProps) {
  const Mark = side === 'left' ? 'del' : 'ins';
  let at = 0;
  return parts.map(({ text, changed }) => {
    const key = at;
    at += text.length;
    const shown = escapeBidiControls(text);
    if (!changed || text === '') return <span key={key}>{shown}</span>;
    return (
      <Mark key={key} className={clsx('rounded-xs no-underline', side === 'left' ? 'bg-bad/30' : 'bg-ok/30')}>
        <span className="sr-only">{side === 'left' ? '[removed: ' : '[added: '}</span>
        {shown}
        <span className="sr-only">]</span>
      </Mark>
    );
  });
}

/** The visible sign of a changed line or field. */
function DiffSign({ side }: { readonly side: DiffSide }) {
  return (
    <span aria-hidden className={clsx('w-4 shrink-0 select-none', side === 'left' ? 'text-bad' : 'text-ok')}>
      {side === 'left' ? '−' : '+'}
    </span>
  );
}

/** The rows of both sides. Only screen readers need the names of the columns. */
function DiffTable({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <table aria-label={label} className="w-full table-fixed border-collapse font-mono text-sm">
      <thead className="sr-only">
        <tr>
          <th scope="col">Left</th>
          <th scope="col">Right</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
