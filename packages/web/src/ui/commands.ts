import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { useLatest } from './use-latest.ts';

/** Ids of commands that one component registers and another runs. */
export const COMMAND_IDS = {
  newEndpoint: 'endpoint.new',
  forward: 'endpoint.forward',
  signing: 'endpoint.signing',
  replay: 'request.replay',
  palette: 'app.palette',
  help: 'app.help',
  search: 'app.search',
  subscription: 'go.subscription',
} as const;

/** An action that the user can run by shortcut or from the command palette. */
export interface Command {
  readonly id: string;
  readonly title: string;
  /** Heading in the shortcut overview and the palette. */
  readonly group: string;
  /**
   * A key as in `KeyboardEvent.key` (`j`, `?`, `/`), or `mod+k` for Ctrl or, on a Mac, Command. Without one, the
   * command is only in the palette.
   */
  readonly keys?: string | undefined;
  readonly run: () => void;
  /** False for commands that make no sense in the palette, such as 'next request'. */
  readonly inPalette?: boolean | undefined;
}

let registered: readonly Command[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Command[]): void {
  registered = next;
  for (const listener of listeners) listener();
}

/** Registers commands until the returned function is called. The last registered command handles a key. */
export function registerCommands(added: readonly Command[]): () => void {
  change([...registered, ...added]);
  return () => change(registered.filter((command) => !added.includes(command)));
}

/** Runs a command by its id. Does nothing if it is not registered. */
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

/** Registers commands while the component is mounted. They always run the latest closure. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useLatest(commands);
  const shape = JSON.stringify(commands);
  const offered = useMemo(() => {
    const run = (id: string): void => latest.current.find((command) => command.id === id)?.run();
    const parsed: readonly Omit<Command, 'run'>[] = JSON.parse(shape);
    return parsed.map((command) => ({ ...command, run: () => run(command.id) }));
  }, [latest, shape]);
  useEffect(() => registerCommands(offered), [offered]);
}

/** All registered commands. */
export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore(commandStore.subscribe, commandStore.read);
}
