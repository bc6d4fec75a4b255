import { endpointTitle } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useId, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { endpointsQuery } from '../api/queries.ts';
import { sortEndpoints } from '../features/endpoints/endpoint-labels.ts';
import { Kbd } from '../ui/button.tsx';
import { isOfInputMethod, rankChoices, showKeys, useAllCommands } from '../ui/commands.ts';
import type { Command } from '../ui/commands.ts';
import { Dialog } from '../ui/dialog.tsx';

/** One choice: a command, an endpoint, or a search. */
interface PaletteChoice {
  readonly id: string;
  readonly title: string;
  /** Heading of the group. The filter also matches it. */
  readonly hint: string;
  readonly keys?: string | undefined;
  readonly run: () => void;
}

/** Groups of the commands that every page has. The palette offers those of the current page and the endpoints first. */
const SHELL_GROUPS = new Set(['General', 'Go to', 'Theme']);

const toChoice = (command: Command): PaletteChoice => ({ ...command, hint: command.group });

/** Finds every command and every endpoint by a few letters. A search for the typed text is always the last choice. */
export function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const commands = useAllCommands();
  const endpoints = useQuery(endpointsQuery);
  const toEndpoints = sortEndpoints(endpoints.data ?? []).map((endpoint): PaletteChoice => ({
    id: endpoint.uid,
    title: endpointTitle(endpoint),
    hint: 'Endpoint',
    run: () => void navigate({ to: '/endpoints/$uid', params: { uid: endpoint.uid } }),
  }));
  const { ofPage = [], ofShell = [] } = Object.groupBy(
    commands.filter((command) => command.inPalette !== false),
    ({ group }) => (SHELL_GROUPS.has(group) ? 'ofShell' : 'ofPage'),
  );
  const choices = [...ofPage.map(toChoice), ...toEndpoints, ...ofShell.map(toChoice)];
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const text = query.trim();
  const search = {
    id: 'search-all',
    title: `Search requests for “${text}”`,
    hint: 'Search',
    run: () => void navigate({ to: '/search', search: { q: text } }),
  };
  const shown: readonly PaletteChoice[] = [...rankChoices(choices, query), ...(text === '' ? [] : [search])];
  const current = shown[Math.min(at, shown.length - 1)];

  const choose = (choice: PaletteChoice | undefined): void => {
    if (choice === undefined) return;
    onClose();
    choice.run();
  };
  const move = (step: number): void => {
    const next = (Math.min(at, shown.length - 1) + step + shown.length) % shown.length;
    setAt(next);
    document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (press: KeyboardEvent): void => {
    if (isOfInputMethod(press)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[press.key];
    if (step !== undefined) move(step);
    else if (press.key === 'Enter') choose(current);
    else return;
    press.preventDefault();
  };
  return (
    <Dialog onClose={onClose} bare width="md" title="Command palette">
      <input
        role="combobox"
        aria-label="Command or endpoint"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={current === undefined ? undefined : `${listId}-${shown.indexOf(current)}`}
        placeholder="Find a command or an endpoint…"
        value={query}
        onChange={(change) => {
          setQuery(change.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        className="h-11 w-full border-b border-line bg-transparent px-4 text-lg outline-none"
      />
      <div id={listId} role="listbox" aria-label="Choices" className="max-h-80 overflow-y-auto p-1.5">
        {shown.length === 0 ? <p className="px-2.5 py-2 text-ink-2">No results.</p> : null}
        {shown.map((choice, position) => (
          <PaletteRow
            key={choice.id}
            id={`${listId}-${position}`}
            choice={choice}
            selected={choice === current}
            onPoint={() => setAt(position)}
            onChoose={() => choose(choice)}
          />
        ))}
      </div>
    </Dialog>
  );
}

interface PaletteRowProps {
  readonly id: string;
  readonly choice: PaletteChoice;
  readonly selected: boolean;
  readonly onPoint: () => void;
  readonly onChoose: () => void;
}

/** The focus stays in the text field (WAI-ARIA combobox), so a row only handles the pointer. */
function PaletteRow({ id, choice, selected, onPoint, onChoose }: PaletteRowProps) {
  return (
    <div
      id={id}
      role="option"
      aria-label={`${choice.title}, ${choice.hint}`}
      tabIndex={-1}
      aria-selected={selected}
      onPointerMove={selected ? undefined : onPoint}
      onClick={onChoose}
      onKeyDown={undefined}
      className={clsx('flex h-9 items-center gap-3 rounded-md px-2.5', selected && 'bg-selected')}
    >
      <span dir="auto" className="min-w-0 grow truncate text-left">
        {choice.title}
      </span>
      <span className="shrink-0 text-sm text-ink-2">{choice.hint}</span>
      {choice.keys === undefined ? null : <Kbd>{showKeys(choice.keys)}</Kbd>}
    </div>
  );
}
