import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';

/** Ids of the commands that one part of the page offers and another runs. */
export const COMMAND_IDS = {
  newEndpoint: 'endpoint.new',
  palette: 'app.palette',
  help: 'app.help',
  search: 'app.search',
  subscription: 'go.subscription',
} as const;

/** Something a person can do by key, or from the palette. */
export interface Command {
  readonly id: string;
  readonly title: string;
  /** Heading in the help overlay and the palette. */
  readonly group: string;
  /** One key as `KeyboardEvent.key` says it (`j`, `?`, `/`), or `mod+k`: Ctrl, on a Mac Command. None: palette only. */
  readonly keys?: string | undefined;
  readonly run: () => void;
  /** False for what makes no sense from a list, like 'next request'. */
  readonly inPalette?: boolean | undefined;
}

let registered: readonly Command[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Command[]): void {
  registered = next;
  for (const listener of listeners) listener();
}

/** Adds commands until the returned function is called. Of two with the same keys the one added last answers. */
export function registerCommands(added: readonly Command[]): () => void {
  change([...registered, ...added]);
  return () => change(registered.filter((command) => !added.includes(command)));
}

/** Runs a command by its id; nothing happens when no part of the page offers it. */
export function runCommand(id: string): void {
  registered.findLast((command) => command.id === id)?.run();
}

export const commandStore = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  read: (): readonly Command[] => registered,
};

/** Offers commands while the component is shown; what they do is always that of the last drawing. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  const shape = JSON.stringify(commands);
  const offered = useMemo(() => {
    const run = (id: string): void => latest.current.find((command) => command.id === id)?.run();
    const parsed: readonly Omit<Command, 'run'>[] = JSON.parse(shape);
    return parsed.map((command) => ({ ...command, run: () => run(command.id) }));
  }, [shape]);
  useEffect(() => registerCommands(offered), [offered]);
}

/** Every command that the page offers now. */
export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore(commandStore.subscribe, commandStore.read);
}
