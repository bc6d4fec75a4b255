import { commandStore } from '../ui/commands.ts';

const FIELDS =
  'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]:not([contenteditable="false"]), .cm-editor';
const LAYERS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]';

interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
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
