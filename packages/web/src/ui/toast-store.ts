import { signal } from './state.ts';

/** Milliseconds that a toast stays open, and that it stays closed afterwards. */
export const TOAST_MS = 5000;
const REMOVE_AFTER_MS = 1_000_000;

/** A message that disappears by itself. */
export interface ToastInput {
  readonly title: string;
  readonly description?: string | undefined;
  readonly variant?: 'default' | 'destructive';
  /** Milliseconds until the toast closes; 5000 by default. */
  readonly duration?: number;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

/** A toast on the screen, or one that is closing. */
export interface ToastItem extends ToastInput {
  readonly id: number;
  readonly open: boolean;
}

/** The newest toast. `undefined` at first, and after it was removed. */
export const toastStore = signal<ToastItem | undefined>(undefined);
let nextId = 1;

/** Shows a toast instead of the previous one. Returns a function that closes it. */
export function toast(input: ToastInput): () => void {
  const id = nextId++;
  toastStore.set({ ...input, id, open: true });
  return () => dismissToast(id);
}

/** What the message of an error can have besides its sentence. The title is 'Error' by default. */
export type ErrorToastOptions = Partial<Pick<ToastInput, 'title' | 'duration' | 'action'>>;

/** Says that an action failed, and what to do. Returns a function that closes the toast. */
export function toastError(description: string | undefined, options: ErrorToastOptions = {}): () => void {
  return toast({ title: 'Error', description, variant: 'destructive', ...options });
}

/** Closes a toast. It stays, closed, much longer than its closing animation. */
export function dismissToast(id: number): void {
  const item = toastStore.read();
  if (item?.id !== id) return;
  toastStore.set({ ...item, open: false });
  setTimeout(() => (toastStore.read()?.id === id ? toastStore.set(undefined) : undefined), REMOVE_AFTER_MS);
}

/** The id of the newest toast; ids only grow. */
export const newestToastId = (): number => nextId - 1;

/** Closes the error messages that are newer than a toast, because their cause is over. */
export function dismissErrorsAfter(id: number): void {
  const item = toastStore.read();
  if (item?.open === true && item.id > id && item.variant === 'destructive') dismissToast(item.id);
}
