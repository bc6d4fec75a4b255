import { afterEach, expect, test, vi } from 'vitest';
import { commandStore, registerCommands, runCommand } from './commands.ts';

const command = (id: string, run: () => void) => ({ id, title: id, group: 'Test', run });
const undo: (() => void)[] = [];
afterEach(() => {
  for (const take of undo.splice(0)) take();
});

test('a command runs while it is registered, and the last registration of an id wins', () => {
  const [first, second] = [vi.fn<() => void>(), vi.fn<() => void>()];
  undo.push(registerCommands([command('search', first)]));
  runCommand('search');
  const takeBack = registerCommands([command('search', second)]);
  runCommand('search');
  takeBack();
  runCommand('search');
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([2, 1]);
});

test('an unknown command does nothing, and subscribers are notified of changes', () => {
  const listener = vi.fn<() => void>();
  undo.push(commandStore.subscribe(listener));
  runCommand('nothing');
  registerCommands([command('a', () => {})])();
  expect(listener).toHaveBeenCalledTimes(2);
  expect(commandStore.read()).toEqual([]);
});
