import { useEffect, useRef, useSyncExternalStore } from 'react';
import { commandStore, registerCommands } from './registry.ts';
import type { Command } from './registry.ts';

/** Offers commands while the component is shown; what they do is always that of the last drawing. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  const shape = JSON.stringify(commands.map(({ id, title, group, keys, inPalette }) => ({ id, title, group, keys, inPalette })));
  useEffect(
    () =>
      registerCommands(
        latest.current.map((command) => ({
          ...command,
          run: () => latest.current.find((current) => current.id === command.id)?.run(),
        })),
      ),
    [shape],
  );
}

/** Every command that the page offers now. */
export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore(commandStore.subscribe, commandStore.read);
}
