import { Plus, X } from 'lucide-react';
import { useCallback, useRef, useState, memo } from 'react';
import type { KeyboardEvent } from 'react';
import { flushSync } from 'react-dom';
import { Button, IconButton } from '../../ui/button.tsx';
import { useLatest } from '../../ui/state.ts';
import { mistakeIn, withNewRow } from './header-rows.ts';
import type { HeaderRow } from './header-rows.ts';

/** Number of rows that are shown until the user expands the table. */
const COLLAPSED_ROWS = 3;
/**
 * Maximum number of rows that are rendered at first after expanding. Each has two inputs, and thousands would freeze the
 * page.
 */
const MAX_RENDERED_ROWS = 200;

interface HeaderTableProps {
  readonly rows: readonly HeaderRow[];
  readonly error: string | undefined;
  readonly onChange: (rows: readonly HeaderRow[]) => void;
}

/** The headers to send, with editable names and values. */
export function HeaderTable({ rows, error, onChange }: HeaderTableProps) {
  const [showsAll, setShowsAll] = useState(false);
  const [limit, setLimit] = useState(MAX_RENDERED_ROWS);
  const table = useRef<HTMLTableElement>(null);
  const adding = useRef<HTMLButtonElement>(null);
  /** Makes a change, and focuses a row; the last row if it is gone, or the add button if there are none. */
  const changeAndFocus = useCallback((act: () => void, row: number, what: 'input' | 'button'): void => {
    flushSync(act);
    const shownRows = table.current?.tBodies[0]?.rows;
    const element = shownRows?.[Math.min(row, shownRows.length - 1)]?.querySelector<HTMLElement>(what);
    (element ?? adding.current)?.focus();
  }, []);
  const latest = useLatest(rows);
  const change = useCallback(
    (row: HeaderRow) => onChange(latest.current.map((each) => (each.id === row.id ? row : each))),
    [latest, onChange],
  );
  const remove = useCallback(
    (id: number) => {
      const others = latest.current.filter((each) => each.id !== id);
      const position = latest.current.findIndex((each) => each.id === id);
      changeAndFocus(() => onChange(others), position, 'button');
    },
    [latest, onChange, changeAndFocus],
  );
  // Expand the table if a hidden row has an error.
  const wrong = error === undefined ? -1 : rows.findIndex((row) => mistakeIn(row) !== undefined);
  const isOpen = showsAll || wrong >= COLLAPSED_ROWS;
  const shown = rows.slice(0, isOpen ? Math.max(limit, wrong + 1) : COLLAPSED_ROWS);
  const hidden = rows.length - shown.length;
  const showMore = (): void => {
    if (isOpen) setLimit(shown.length + MAX_RENDERED_ROWS);
    setShowsAll(true);
  };
  const add = (): void => {
    setShowsAll(true);
    setLimit(Math.max(limit, rows.length + 1));
    onChange(withNewRow(rows));
  };
  return (
    <section aria-label="Headers of the replay" className="flex shrink-0 flex-col gap-2 px-4 py-3">
      <div className="flex items-center gap-2">
        <h4 className="grow font-medium">
          Headers <span className="font-normal text-ink-3">{rows.length}</span>
        </h4>
        {rows.length > COLLAPSED_ROWS ? (
          <Button size="sm" variant="ghost" aria-expanded={isOpen} onClick={() => setShowsAll(!isOpen)}>
            {isOpen ? 'Show fewer' : `Show all (${rows.length})`}
          </Button>
        ) : null}
        <Button ref={adding} size="sm" onClick={() => changeAndFocus(add, rows.length, 'input')}>
          <Plus /> Add header
        </Button>
      </div>
      <div className="relative max-h-[300px] overflow-y-auto rounded-md border border-line-strong bg-panel empty:hidden">
        {rows.length === 0 ? null : (
          <table ref={table} aria-label="Headers to send" className="w-full table-fixed border-collapse">
            <colgroup>
              <col className="w-36 @md:w-[38%]" />
              <col />
              <col className="w-8" />
            </colgroup>
            <thead className="sr-only">
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Value</th>
                <th scope="col">Remove</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((row, position) => (
                <HeaderRowFields
                  key={row.id}
                  row={row}
                  number={position + 1}
                  mistake={position === wrong ? mistakeIn(row) : undefined}
                  onChange={change}
                  onRemove={remove}
                />
              ))}
            </tbody>
          </table>
        )}
      </div>
      {hidden > 0 ? (
        <button
          type="button"
          onClick={() => changeAndFocus(showMore, shown.length, 'input')}
          className="self-start rounded-sm text-sm font-medium text-accent hover:underline"
        >
          {hidden === 1 ? 'Show 1 more header' : `Show ${hidden} more headers`}
        </button>
      ) : null}
      <p role="alert" className="text-sm text-bad empty:hidden">
        {error}
      </p>
    </section>
  );
}

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

const HeaderRowFields = memo(function HeaderRowFields(props: HeaderRowFieldsProps) {
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
