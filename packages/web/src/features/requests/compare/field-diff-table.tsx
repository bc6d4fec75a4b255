import { clsx } from 'clsx';
import { readable } from '../../../bodies/wire-text.ts';
import type { FieldDiff } from './diff.ts';

export interface FieldDiffTableProps {
  readonly title: string;
  readonly fields: readonly FieldDiff[];
  /** Shown if there are no fields. */
  readonly none: string;
}

/** The fields of both sides by name, with differences highlighted. */
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
          {fields.map(({ name, left, right, same }) => (
            <tr key={name} className="border-b border-line align-top">
              <Cell name={name} values={left} tone={same ? '' : 'bg-bad-soft'} />
              <Cell name={name} values={right} tone={same ? '' : 'bg-ok-soft'} />
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Cell({
  name,
  values,
  tone,
}: {
  readonly name: string;
  readonly values: readonly string[];
  readonly tone: string;
}) {
  return (
    <td className={clsx('px-4 py-1 wrap-anywhere not-first:border-l not-first:border-line', values.length > 0 && tone)}>
      {values.map((value, place) => (
        <div key={place}>
          <span className="text-ink-2">{name}: </span>
          {readable(value)}
        </div>
      ))}
    </td>
  );
}
