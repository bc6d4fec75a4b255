import { useEffect, useEffectEvent } from 'react';
import { z } from 'zod';
import { signal, storedValue, useSignal } from './state.ts';

/** Ids of commands that one component registers and another runs. */
export const COMMAND_IDS = {
  newEndpoint: 'endpoint.new',
  autosave: 'endpoint.autosave',
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
  /** False for commands that are not useful in the palette, such as 'next request'. */
  readonly inPalette?: boolean | undefined;
}

export const commandStore = signal<readonly Command[]>([]);

/** Registers commands until the returned function is called. The last registered command handles a key. */
export function registerCommands(added: readonly Command[]): () => void {
  commandStore.set([...commandStore.read(), ...added]);
  return () => commandStore.set(commandStore.read().filter((command) => !added.includes(command)));
}

/** Runs a command by its id. Does nothing if it is not registered. */
export function runCommand(id: string): void {
  commandStore
    .read()
    .findLast((command) => command.id === id)
    ?.run();
}

/** Registers commands while the component is mounted. They always run the latest closure. */
export function useCommands(commands: readonly Command[]): void {
  const run = useEffectEvent((id: string) => commands.find((command) => command.id === id)?.run());
  const shape = JSON.stringify(commands);
  useEffect(() => {
    const parsed: readonly Omit<Command, 'run'>[] = JSON.parse(shape);
    return registerCommands(parsed.map((command) => ({ ...command, run: () => run(command.id) })));
  }, [shape]);
}

export const useAllCommands = (): readonly Command[] => useSignal(commandStore);

/** False if the user has turned off shortcuts of one character, which speech input can press by mistake (WCAG 2.1.4). */
export const singleKeysPreference = storedValue('singleKeys', z.boolean(), true);

const FIELDS =
  'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]:not([contenteditable="false"])';
const LAYERS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]';

type KeyPress = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/**
 * The key belongs to an input method, for example the Enter that accepts Japanese text. Safari sends that one after the
 * composition, and only its old code is different (W3C UI Events, section 6.3.1).
 */
export function isOfInputMethod({ nativeEvent }: { readonly nativeEvent: KeyboardEvent }): boolean {
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}

/** `mod+k` for Ctrl or Command with a key, else the key; `undefined` with other modifiers. */
export function keysOf(press: KeyPress): string | undefined {
  if (press.altKey) return undefined;
  return press.ctrlKey || press.metaKey ? `mod+${press.key.toLowerCase()}` : press.key;
}

/** Listens for the shortcuts of all commands. Plain keys are off in text fields and while a dialog or menu is open. */
export function listenForShortcuts(): () => void {
  const onKey = (press: KeyboardEvent): void => {
    if (press.defaultPrevented || press.isComposing) return;
    const keys = keysOf(press);
    const command = commandStore
      .read()
      .findLast((candidate) => candidate.keys !== undefined && candidate.keys === keys);
    if (command === undefined || (keys?.startsWith('mod+') !== true && isBusy(press.target))) return;
    if (keys?.length === 1 && !singleKeysPreference.read()) return;
    press.preventDefault();
    command.run();
  };
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}

function isBusy(target: EventTarget | null): boolean {
  return document.querySelector(LAYERS) !== null || (target instanceof Element && target.closest(FIELDS) !== null);
}

/** How a shortcut is displayed: `mod+k` is `⌘K` on a Mac, else `Ctrl K`. */
export function showKeys(keys: string): string {
  if (!keys.startsWith('mod+')) return keys;
  const name = keys.slice('mod+'.length);
  const key = name.slice(0, 1).toUpperCase() + name.slice(1);
  return /mac|iphone|ipad/i.test(navigator.userAgent) ? `⌘${key}` : `Ctrl ${key}`;
}

/**
 * The choices that match every word of `query`, all of them for an empty query. The order: texts that start with a word,
 * texts with a word that does, texts that contain it, texts that it abbreviates.
 */
export function rankChoices<Choice extends { readonly title: string; readonly hint?: string | undefined }>(
  choices: readonly Choice[],
  query: string,
): Choice[] {
  const words: readonly string[] = query.toLowerCase().match(/\S+/g) ?? [];
  return choices
    .map((choice) => {
      const text = `${choice.title} ${choice.hint ?? ''}`.toLowerCase();
      const matches = words.map((word) => matchOf(text, word));
      return { choice, isFound: !matches.includes(0), rank: matches.reduce((sum, one) => sum + one, 0) };
    })
    .filter(({ isFound }) => isFound)
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ choice }) => choice);
}

/** How well a text matches a word, from 0 (not at all) to 4 (starts with it). */
function matchOf(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at === 0) return 4;
  if (wordStarts(text).some((start) => text.startsWith(word, start))) return 3;
  if (at > 0) return 2;
  return isAbbreviation(text, word) ? 1 : 0;
}

const wordStarts = (text: string): number[] => [...text.matchAll(/[\p{L}\p{N}]+/gu)].map(({ index }) => index);

/**
 * True if each letter of `word` starts a word of the text or follows in the word of the letter before. `strp` and
 * `sbil` abbreviate 'stripe billing'.
 */
function isAbbreviation(text: string, word: string): boolean {
  const starts = new Set(wordStarts(text));
  const wordEnd = (from: number): number => from + text.slice(from).search(/[^\p{L}\p{N}]|$/u);
  let ends: number[] = [];
  for (const [at, letter] of [...word].entries()) {
    ends = [...text.matchAll(/./gsu)]
      .filter(([character]) => character === letter)
      .map(({ index }) => index)
      .filter((index) =>
        at === 0 ? starts.has(index) : ends.some((end) => end < index && (starts.has(index) || index < wordEnd(end))),
      );
  }
  return ends.length > 0;
}
