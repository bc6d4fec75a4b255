import { Check, Copy } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, IconButton } from './button.tsx';
import { toast, toastError } from './toast-store.ts';
import type { ToastInput } from './toast-store.ts';

/** Milliseconds that a copy button shows its check mark. */
const COPIED_MS = 2000;

/**
 * Copies a text to the clipboard. Returns false if the browser refuses. Rejects if the text can't be loaded. Must be
 * called within the user's action: Safari allows no copying later, so a text that is still loading goes to the
 * clipboard as a promise (W3C Clipboard API, section 6.1).
 */
async function copyText(text: string | Promise<string>): Promise<boolean> {
  try {
    if (typeof text === 'string') await navigator.clipboard.writeText(text);
    else await navigator.clipboard.write([clipboardItem(text)]);
    return true;
  } catch {
    return copyBySelection(await text);
  }
}

function clipboardItem(text: Promise<string>): ClipboardItem {
  const blob = text.then((loaded) => new Blob([loaded], { type: 'text/plain' }));
  // If the browser refuses, nothing else waits for it.
  blob.catch(() => undefined);
  return new ClipboardItem({ 'text/plain': blob });
}

/** Pages on plain http have no clipboard API (W3C Clipboard API, section 5). Copying a selection still works there. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'fixed opacity-0';
  const before = document.activeElement;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

export const CONTENT_COPIED: ToastInput = {
  title: 'Content Copied',
  description: 'Content has been copied to your clipboard.',
};

export const BODY_COPIED: ToastInput = {
  title: 'Body copied to clipboard',
  description: 'The request body has been copied to your clipboard.',
};

/** A text, or a function that returns it when it is copied. */
export type CopySource = string | (() => string | Promise<string>);

/** Copies a text, and says whether it worked. Never rejects. */
export async function copyWithToast(source: CopySource, message: ToastInput = CONTENT_COPIED): Promise<boolean> {
  let done: boolean;
  try {
    done = await copyText(typeof source === 'string' ? source : source());
  } catch {
    toastError('The text to copy could not be loaded. It may no longer be stored.');
    return false;
  }
  if (done) toast(message);
  else toastError('The browser blocked copying. Select the text and copy it yourself.');
  return done;
}

/** `copied` is true for two seconds after a successful copy. */
function useCopied(): readonly [copied: boolean, show: () => void] {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = (): void => {
    clearTimeout(timer.current);
    setCopied(true);
    timer.current = setTimeout(() => setCopied(false), COPIED_MS);
  };
  return [copied, show];
}

interface CopyButtonProps {
  readonly text: CopySource;
  readonly label: string;
  /** 'Content Copied' by default. */
  readonly toast?: ToastInput;
  /** Label beside the icon. Without one, it is an icon button. */
  readonly children?: ReactNode;
  readonly size?: 'sm' | 'md';
  readonly className?: string;
}

/** Copies a text and shows a check mark for two seconds. */
export function CopyButton({ text, label, toast: message, children, ...look }: CopyButtonProps) {
  const [copied, showCopied] = useCopied();
  const run = async (): Promise<void> => {
    if (await copyWithToast(text, message)) showCopied();
  };
  const icon = copied ? <Check className="text-ok" data-copied /> : <Copy />;
  if (children === undefined) return <IconButton label={label} icon={icon} onClick={() => void run()} {...look} />;
  return (
    <Button aria-label={label} onClick={() => void run()} {...look}>
      {icon}
      {children}
    </Button>
  );
}

/** Copies the text of a row with the classes `group` and `relative`. A mouse sees it only over the row. */
export function RowCopyButton(props: Pick<CopyButtonProps, 'text' | 'label'>) {
  return (
    <CopyButton
      {...props}
      className="absolute top-0.5 right-2 opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:right-0 pointer-coarse:opacity-100"
    />
  );
}
