import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { RowCopyButton } from '../ui/copy.tsx';
import { escapeBidiControls } from './encoding.ts';

/** Maximum number of rows that are rendered at first. A head of 64 KiB may hold thousands of fields. */
const MAX_RENDERED_ROWS = 200;

interface FieldTableProps {
  readonly label: string;
  readonly nameTitle: string;
  readonly fields: readonly (readonly [string, string])[];
  /** Values of which the table shows the beginning, because they are shown elsewhere. */
  readonly shortened?: ReadonlySet<string>;
}

/** Names and values. Each value has a copy button. */
export function FieldTable({ label, nameTitle, fields, shortened }: FieldTableProps) {
  const [limit, setLimit] = useState(MAX_RENDERED_ROWS);
  const hidden = fields.length - limit;
  return (
    <>
      <table aria-label={label} className="w-full table-fixed border-collapse font-mono text-sm">
        <thead className="sr-only">
          <tr>
            <th scope="col">{nameTitle}</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {fields.slice(0, limit).map(([name, value], position) => (
            // The same field may occur twice, so its position is the key.
            <tr key={position} className="group border-b border-line align-top hover:bg-sunk">
              <th
                scope="row"
                className="w-[34%] px-4 py-1.5 text-left font-normal wrap-anywhere text-ink-2 pointer-coarse:py-4"
              >
                {escapeBidiControls(name)}
              </th>
              <td className="relative py-1.5 pr-9 wrap-anywhere whitespace-pre-wrap text-ink pointer-coarse:py-4 pointer-coarse:pr-12">
                {value === '' ? (
                  <span className="text-ink-3">(empty)</span>
                ) : (
                  <span className={shortened?.has(value) === true ? 'line-clamp-3' : undefined}>
                    {escapeBidiControls(value)}
                  </span>
                )}
                <RowCopyButton text={value} label={`Copy ${name}`} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 ? (
        <div className="flex items-center gap-3 px-4 py-2">
          <span className="text-ink-2">
            Showing the first {limit} of {fields.length}.
          </span>
          <Button size="sm" onClick={() => setLimit(limit + MAX_RENDERED_ROWS)}>
            Show {Math.min(hidden, MAX_RENDERED_ROWS)} more
          </Button>
        </div>
      ) : null}
    </>
  );
}
