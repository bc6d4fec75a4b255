import { X } from 'lucide-react';
import { memo } from 'react';
import type { KeyboardEvent } from 'react';
import { IconButton } from '../../ui/button.tsx';
import type { HeaderRow } from './header-rows.ts';

interface HeaderRowFieldsProps {
  readonly row: HeaderRow;
  /** Number of the row from 1, for the names of its fields. */
  readonly number: number;
  readonly mistake: 'name' | 'value' | undefined;
  readonly onChange: (row: HeaderRow) => void;
  readonly onRemove: (id: number) => void;
}

const FIELD =
  'h-8 w-full min-w-0 bg-transparent px-2.5 font-mono text-sm text-ink focus-visible:bg-selected focus-visible:outline-1 focus-visible:outline-offset-[-1px] aria-invalid:text-bad';

/** One header of a replay. */
export const HeaderRowFields = memo(function HeaderRowFields(props: HeaderRowFieldsProps) {
  const { row, number, mistake, onChange, onRemove } = props;
  return (
    <tr className="border-line not-first:border-t">
      <td className="border-r border-line">
        <input
          aria-label={`Name of header ${number}`}
          value={row.name}
          aria-invalid={mistake === 'name' ? true : undefined}
          placeholder="Name"
          {...FIELD_PROPS}
          onChange={(input) => onChange({ ...row, name: input.target.value })}
        />
      </td>
      <td>
        <input
          aria-label={`Value of header ${number}`}
          value={row.value}
          aria-invalid={mistake === 'value' ? true : undefined}
          placeholder="Empty: not sent"
          {...FIELD_PROPS}
          onChange={(input) => onChange({ ...row, value: input.target.value })}
        />
      </td>
      <td className="text-center">
        <IconButton label={`Remove header ${number}`} icon={<X />} onClick={() => onRemove(row.id)} />
      </td>
    </tr>
  );
});

const FIELD_PROPS = {
  type: 'text',
  autoComplete: 'off',
  spellCheck: false,
  className: FIELD,
  // Enter would submit the form, which is too easy to do by mistake in a table.
  onKeyDown: (press: KeyboardEvent) => {
    if (press.key === 'Enter' && !press.ctrlKey && !press.metaKey) press.preventDefault();
  },
} as const;
