import { clsx } from 'clsx';
import { readable } from '../../../bodies/encoding.ts';
import { DiffSign, DiffText } from './diff-text.tsx';
import type { DiffSide } from './diff-text.tsx';
import type { FieldDiff } from './diff.ts';
import { diffWords } from './word-diff.ts';

interface FieldDiffTableProps {
  readonly title: string;
  readonly fields: readonly FieldDiff[];
  /** Shown if there are no fields. */
  readonly none: string;
}

/** The fields of both sides by name, with differences marked word by word. */
export function FieldDiffTable({ title, fields, none }: FieldDiffTableProps) {
  return (
    <>
      <h3 className="border-b border-line bg-sunk px-4 py-1.5 text-sm font-medium text-ink-2">{title}</h3>
      {fields.length === 0 ? <p className="px-4 py-3 text-ink-2">{none}</p> : null}
      <table aria-label={title} className="w-full table-fixed border-collapse font-mono text-sm">
        <thead className="sr-only">
          <tr>
            <th scope="col">Left</th>
            <th scope="col">Right</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <tr key={field.name} className="border-b border-line align-top">
              <Cell field={field} side="left" />
              <Cell field={field} side="right" />
            </tr>
          ))}
        </tbody>
      </table>
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
      {values.map((value, place) => (
        <div key={place} className="flex">
          {same ? <span className="w-4 shrink-0" /> : <DiffSign side={side} />}
          <span className="min-w-0">
            <span className="text-ink-2">{name}: </span>
            <DiffText parts={partsOf(value, others[place], side)} side={side} />
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
