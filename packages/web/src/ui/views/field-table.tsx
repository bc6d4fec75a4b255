import { CopyButton } from '../copy-button.tsx';

export interface FieldTableProps {
  readonly label: string;
  readonly nameTitle: string;
  readonly fields: readonly (readonly [string, string])[];
}

/** Names and values; a value is copied with the button that appears beside it. */
export function FieldTable({ label, nameTitle, fields }: FieldTableProps) {
  return (
    <table aria-label={label} className="w-full table-fixed border-collapse font-mono text-sm">
      <thead className="sr-only">
        <tr>
          <th scope="col">{nameTitle}</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(([name, value], place) => (
          // The same field may stand there twice; its place is what tells it apart.
          <tr key={place} className="group border-b border-line align-top hover:bg-sunk">
            <th scope="row" className="w-[34%] px-4 py-1.5 text-left font-normal wrap-anywhere text-ink-2">
              {name}
            </th>
            <td className="relative py-1.5 pr-9 wrap-anywhere whitespace-pre-wrap text-ink">
              {value === '' ? <span className="text-ink-3">(empty)</span> : value}
              <CopyButton
                text={value}
                label={`Copy ${name}`}
                className="absolute top-0.5 right-2 opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
