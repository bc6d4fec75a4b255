import { MAX_QUERY_LENGTH, parseQuery } from '@creel/contract';
import { clsx } from 'clsx';
import { Search, X } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { flushSync } from 'react-dom';
import { IconButton } from './button.tsx';
import { isOfInputMethod, useCommands } from './commands.ts';
import type { Command } from './commands.ts';
import { USES_ESCAPE } from './dialog.tsx';
import { Input } from './field.tsx';
import { complete, completionsAt } from './query-completion.ts';
import type { Completion, KnownValues } from './query-completion.ts';
import { QueryNotes } from './query-notes.tsx';
import { useSearchText } from './use-search-text.ts';

interface QueryFieldProps {
  readonly label: string;
  readonly placeholder: string;
  /** The query that is searched for. */
  readonly query: string;
  /** Called with queries that can be read, a moment after the last key press and on Enter. */
  readonly onQuery: (query: string) => void;
  /** Called when suggestions are shown. */
  readonly known: () => KnownValues;
  /** Called with the text at each change by the user, even while it can't be read. */
  readonly onText?: ((text: string) => void) | undefined;
  /** A mistake that only the server knows. */
  readonly error?: string | undefined;
  /** Its shortcut focuses the field. */
  readonly command?: Omit<Command, 'run'> | undefined;
  /** Escape in the field, with no suggestions shown. */
  readonly onLeave?: (() => void) | undefined;
  /** False if what the query matches is not below the field. */
  readonly showsMatches?: boolean;
  /** For a field that is the purpose of its page. */
  readonly takesFocus?: boolean;
  /** Low, with all notes over what is below. The positioned ancestor decides their width. */
  readonly compact?: boolean;
  readonly className?: string;
}

/**
 * A field for the query language (docs/query-language.md): a combobox (WAI-ARIA) with suggestions, and notes about
 * mistakes and unknown fields below.
 */
export function QueryField(props: QueryFieldProps) {
  const { label, placeholder, query, onQuery, known, command, onText, error, onLeave } = props;
  const { showsMatches = true, takesFocus = false, compact = false, className } = props;
  const field = useRef<HTMLInputElement>(null);
  const ids = useId();
  const search = useSearchText(query, { onSearch: onQuery, onText, canSearch: (text) => parseQuery(text).ok });
  const [caret, setCaret] = useState<number>();
  const [active, setActive] = useState(-1);
  const { text } = search;
  const completions = caret === undefined ? undefined : completionsAt(text, caret, known());
  const choices = completions?.choices ?? [];
  const isOpen = choices.length > 0;
  const parsed = parseQuery(text);
  // The term for which suggestions are shown is often a mistake because it is unfinished.
  const isUnfinished = isOpen && !parsed.ok && !/\s/.test(text.slice(parsed.position, caret));
  const showsMistake = search.isSettled && !isUnfinished;
  useCommands(command === undefined ? [] : [{ ...command, run: () => field.current?.select() }]);

  /** Shows the suggestions for a place in the text; `undefined` hides them. */
  const suggestAt = (place: number | undefined): void => {
    setCaret(place);
    setActive(-1);
  };
  const choose = (choice: Completion): void => {
    if (completions === undefined) return;
    const done = complete(text, completions, choice);
    // The field must have the text before the caret can be in it.
    flushSync(() => {
      search.change(done.text);
      suggestAt(/\s$/.test(done.text.slice(0, done.caret)) ? undefined : done.caret);
    });
    field.current?.setSelectionRange(done.caret, done.caret);
  };
  const onKeyDown = (press: KeyboardEvent): void => {
    if (isOfInputMethod(press)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[press.key];
    const chosen = choices[active];
    if (step !== undefined) {
      if (isOpen) setActive((active + step + choices.length + 1) % (choices.length + 1 || 1));
      else suggestAt(field.current?.selectionStart ?? text.length);
    } else if (press.key === 'Enter') {
      if (chosen === undefined) {
        suggestAt(undefined);
        search.submit(text);
        // Where the field is part of a form, the browser then submits the form.
        if (!isOpen) return;
      } else choose(chosen);
    } else if (press.key === 'Tab' && chosen !== undefined) choose(chosen);
    else if (press.key === 'Escape' && isOpen) suggestAt(undefined);
    else if (press.key === 'Escape' && onLeave !== undefined) {
      search.submit('');
      onLeave();
    } else return;
    press.preventDefault();
  };
  const activeId = active < 0 ? undefined : `${ids}-${active}`;
  return (
    <search className={clsx('group flex min-w-0 flex-col', !compact && 'relative', className)}>
      <div className="relative">
        <Search
          aria-hidden
          className={clsx(
            'pointer-events-none absolute top-1/2 -translate-y-1/2 text-ink-3',
            compact ? 'left-2 size-3.5' : 'left-3 size-4',
          )}
        />
        <Input
          ref={field}
          role="combobox"
          aria-label={label}
          aria-expanded={isOpen}
          {...(isOpen ? USES_ESCAPE : {})}
          aria-controls={`${ids}-list`}
          aria-autocomplete="list"
          aria-activedescendant={activeId}
          aria-describedby={`${ids}-notes`}
          aria-invalid={(showsMistake && !parsed.ok) || error !== undefined}
          placeholder={placeholder}
          maxLength={MAX_QUERY_LENGTH}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          // oxlint-disable-next-line jsx-a11y/no-autofocus
          autoFocus={takesFocus}
          value={text}
          onChange={({ target }) => {
            search.change(target.value);
            suggestAt(caretInTerm(target));
          }}
          onKeyDown={onKeyDown}
          onBlur={() => {
            suggestAt(undefined);
            search.settle();
          }}
          className={clsx('pointer-coarse:h-11!', compact ? 'h-7! pr-7 pl-7 text-sm' : 'h-9! pr-9 pl-9')}
        />
        {text === '' ? null : (
          <ClearButton
            compact={compact}
            onClear={() => {
              search.submit('');
              field.current?.focus();
            }}
          />
        )}
        <Suggestions id={ids} choices={choices} active={active} onChoose={choose} />
      </div>
      <QueryNotes
        id={`${ids}-notes`}
        text={text}
        showsMistake={showsMistake}
        matchesOf={showsMatches && parseQuery(query).ok ? query : undefined}
        error={error}
        room={compact ? 'none' : showsMatches ? 'line' : 'grows'}
      />
    </search>
  );
}

/** Between two terms, suggestions would only hide what was found. The arrow key shows them. */
function caretInTerm({ value, selectionStart }: HTMLInputElement): number | undefined {
  const caret = selectionStart ?? value.length;
  return /(^|\s)$/.test(value.slice(0, caret)) ? undefined : caret;
}

function ClearButton({ compact, onClear }: { readonly compact: boolean; readonly onClear: () => void }) {
  return (
    <IconButton
      label="Clear the field"
      icon={<X />}
      className={clsx('absolute inset-y-0 my-auto', compact ? 'right-0.5' : 'right-1.5')}
      onClick={onClear}
    />
  );
}

interface SuggestionsProps {
  readonly id: string;
  readonly choices: readonly Completion[];
  readonly active: number;
  readonly onChoose: (choice: Completion) => void;
}

/** The focus stays in the field, so an option only handles the pointer. */
function Suggestions({ id, choices, active, onChoose }: SuggestionsProps) {
  if (choices.length === 0) return null;
  return (
    <div
      id={`${id}-list`}
      role="listbox"
      aria-label="Suggestions"
      className="absolute top-full left-0 z-30 mt-1 max-h-72 w-max max-w-[min(26rem,88vw)] min-w-56 overflow-y-auto rounded-md border border-line-strong bg-panel p-1 shadow-float"
    >
      {choices.map((choice, position) => (
        <div
          key={choice.text}
          id={`${id}-${position}`}
          role="option"
          tabIndex={-1}
          aria-selected={position === active}
          // The field must not lose the focus before the click.
          onPointerDown={(press) => press.preventDefault()}
          onClick={() => onChoose(choice)}
          onKeyDown={undefined}
          className={clsx(
            'flex min-h-7 items-baseline gap-4 rounded-sm px-2 py-1 font-mono text-sm hover:bg-sunk pointer-coarse:min-h-11 pointer-coarse:items-center',
            position === active && 'bg-selected hover:bg-selected',
          )}
        >
          <span className="min-w-0 truncate">{choice.text}</span>
          <span className="ml-auto min-w-0 truncate text-ink-2">{choice.hint}</span>
        </div>
      ))}
    </div>
  );
}
