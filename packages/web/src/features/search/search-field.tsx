import { MAX_QUERY_LENGTH } from '@creel/contract';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useCommands, COMMAND_IDS } from '../../ui/commands.ts';
import { Input } from '../../ui/input.tsx';

/** Milliseconds to wait after the last key press before searching. */
const PAUSE_MS = 250;

export interface SearchFieldProps {
  readonly q: string;
  readonly onSearch: (q: string) => void;
}

/**
 * Searches while the user types, after a short delay; Enter searches at once. A search from elsewhere (command
 * palette, browser history) replaces the text of the field.
 */
export function SearchField({ q, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(q);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** Searches that this field has started and that have not come back as `q` yet, oldest first. */
  const asked = useRef<string[]>([]);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => () => clearTimeout(pause.current), []);
  useEffect(() => {
    const own = asked.current.indexOf(q);
    if (own >= 0) {
      asked.current.splice(0, own + 1);
      return;
    }
    // Older searches will not come back any more.
    asked.current = [];
    clearTimeout(pause.current);
    setText(q);
  }, [q]);
  useCommands([
    { id: COMMAND_IDS.search, title: 'Search', group: 'General', keys: '/', run: () => field.current?.select() },
  ]);
  const search = (next: string): void => {
    clearTimeout(pause.current);
    const meant = next.trim() === '' ? '' : next;
    if (meant !== q) asked.current.push(meant);
    onSearch(meant);
  };
  return (
    <form
      role="search"
      onSubmit={(submit) => {
        submit.preventDefault();
        search(text);
      }}
      className="relative"
    >
      <Search aria-hidden className="pointer-events-none absolute top-2.5 left-3 size-4 text-ink-2" />
      <Input
        ref={field}
        type="search"
        aria-label="Search requests"
        placeholder="Method, path, query, header or body…"
        maxLength={MAX_QUERY_LENGTH}
        autoComplete="off"
        // The field is the purpose of this page, so it gets the focus.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        value={text}
        onChange={(change) => {
          const next = change.target.value;
          setText(next);
          clearTimeout(pause.current);
          pause.current = setTimeout(() => search(next), PAUSE_MS);
        }}
        className="h-9 pl-9 [&::-webkit-search-cancel-button]:appearance-none"
      />
    </form>
  );
}
