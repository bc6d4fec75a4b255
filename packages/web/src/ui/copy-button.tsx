import { Check, Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { IconButton } from './icon-button.tsx';
import { toast } from './toast-store.ts';
import type { ToastInput } from './toast-store.ts';
import { useCopy } from './use-copy.ts';

export interface CopyButtonProps {
  /** The text, or a function that returns it. */
  readonly text: string | (() => string | Promise<string>);
  readonly label: string;
  /** Title of the toast; 'Content Copied' by default. */
  readonly toast?: ToastInput | null;
  /** Label beside the icon. Without one, it is an icon button. */
  readonly children?: ReactNode;
  readonly size?: 'sm' | 'md';
  readonly className?: string;
}

const COPIED: ToastInput = { title: 'Content Copied', description: 'Content has been copied to your clipboard.' };

/** Copies a text and shows a check mark for two seconds. */
export function CopyButton({ text, label, toast: message = COPIED, children, size, className }: CopyButtonProps) {
  const { copied, copy } = useCopy();
  const run = async (): Promise<void> => {
    const done = await copy(typeof text === 'string' ? text : await text());
    if (!done)
      toast({
        title: 'Error',
        description: 'The browser blocked copying. Select the text and copy it yourself.',
        variant: 'destructive',
      });
    else if (message !== null) toast(message);
  };
  const icon = copied ? <Check className="text-ok" data-copied /> : <Copy />;
  const look = { ...(className === undefined ? {} : { className }), ...(size === undefined ? {} : { size }) };
  if (children === undefined) return <IconButton label={label} icon={icon} onClick={() => void run()} {...look} />;
  return (
    <Button aria-label={label} onClick={() => void run()} {...look}>
      {icon}
      {children}
    </Button>
  );
}
