import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { commandStore, registerCommands } from './registry.ts';
import type { Command } from './registry.ts';

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
