import { afterEach, expect, test, vi } from 'vitest';
import { commandStore, registerCommands, runCommand } from './commands.ts';

const command = (id: string, run: () => void) => ({ id, title: id, group: 'Test', run });
const undo: (() => void)[] = [];
afterEach(() => {
  for (const take of undo.splice(0)) take();
});

test('a command runs while it is offered, and the last offer of an id counts', () => {
  const [first, second] = [vi.fn<() => void>(), vi.fn<() => void>()];
  undo.push(registerCommands([command('search', first)]));
  runCommand('search');
  const takeBack = registerCommands([command('search', second)]);
  runCommand('search');
  takeBack();
  runCommand('search');
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([2, 1]);
});

test('what nobody offers does nothing, and watchers hear of every change', () => {
  const listener = vi.fn<() => void>();
  undo.push(commandStore.subscribe(listener));
  runCommand('nothing');
  registerCommands([command('a', () => {})])();
  expect(listener).toHaveBeenCalledTimes(2);
  expect(commandStore.read()).toEqual([]);
});
