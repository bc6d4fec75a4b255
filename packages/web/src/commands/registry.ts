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

let commands: readonly Command[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Command[]): void {
  commands = next;
  for (const listener of listeners) listener();
}

/** Adds commands until the returned function is called. Of two with the same keys the one added last answers. */
export function registerCommands(added: readonly Command[]): () => void {
  change([...commands, ...added]);
  return () => change(commands.filter((command) => !added.includes(command)));
}

/** Runs a command by its id; nothing happens when no part of the page offers it. */
export function runCommand(id: string): void {
  commands.findLast((command) => command.id === id)?.run();
}

export const commandStore = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  read: (): readonly Command[] => commands,
};
