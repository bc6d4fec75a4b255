import { AlertDialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { useFocusBack } from './focus.ts';

interface ConfirmDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description: string;
  /** Label of the confirm button, a verb: 'Delete'. */
  readonly confirmLabel: string;
  /** Label of the other button, if 'Cancel' could be misunderstood. */
  readonly cancelLabel?: string;
  readonly onConfirm: () => void;
  readonly destructive?: boolean;
  /** True while the action can't be confirmed. */
  readonly busy?: boolean;
  /** Content between the description and the buttons. */
  readonly children?: ReactNode;
}

/** Confirms an action that can't be undone. The focus starts on Cancel and returns to where it was. */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  description,
  confirmLabel,
  cancelLabel = 'Cancel',
  onConfirm,
  destructive = true,
  busy = false,
  children,
}: ConfirmDialogProps) {
  const focus = useFocusBack();
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 grid grid-cols-[minmax(0,1fr)] place-items-center overflow-y-auto bg-veil p-4 animate-fade-in">
          <Radix.Content
            onOpenAutoFocus={focus.remember}
            onCloseAutoFocus={focus.onCloseAutoFocus}
            className="w-full max-w-md rounded-lg border border-line-strong bg-panel p-5 shadow-float animate-rise-in"
          >
            <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
            <Radix.Description className="mt-1 wrap-anywhere text-ink-2">{description}</Radix.Description>
            {children}
            <div className="mt-5 flex flex-wrap justify-end gap-2">
              <Radix.Cancel asChild>
                <Button>{cancelLabel}</Button>
              </Radix.Cancel>
              <Radix.Action asChild>
                <Button variant={destructive ? 'danger' : 'primary'} busy={busy} onClick={onConfirm}>
                  {confirmLabel}
                </Button>
              </Radix.Action>
            </div>
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}
