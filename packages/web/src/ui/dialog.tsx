import { clsx } from 'clsx';
import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { useRef, useState } from 'react';
import type { ComponentProps, FormEvent, ReactNode } from 'react';
import { Button } from './button.tsx';
import { isOfInputMethod } from './commands.ts';

const WIDTHS = { sm: 'max-w-md', md: 'max-w-xl', lg: 'max-w-4xl' } as const;

interface DialogProps {
  /** An `alertdialog` must be answered: it has no close button, and a click outside does not close it. */
  readonly role?: 'dialog' | 'alertdialog';
  readonly title: string;
  readonly description?: ReactNode;
  /** Hides heading and description from all but screen readers. */
  readonly bare?: boolean;
  readonly width?: keyof typeof WIDTHS;
  readonly onClose: () => void;
  readonly children?: ReactNode;
  /** Has a button that closes the dialog. Then the corner has none. */
  readonly footer?: ReactNode;
}

/**
 * A modal dialog, open while it is mounted. The focus moves to the element marked `data-first-focus` or the first one,
 * stays inside, and returns afterwards. Escape closes, and so does a press outside until the user edits a form inside. If
 * an element inside is marked `data-unsaved`, the dialog asks before it closes: for long texts and pasted secrets.
 */
export function Dialog(props: DialogProps) {
  const { role = 'dialog', title, description, bare = false, width = 'sm', onClose, children, footer } = props;
  const isAlert = role === 'alertdialog';
  /** The form that the user has edited. A press outside would lose the input. */
  const edited = useRef<Element>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isAsking, setAsking] = useState(false);
  const close = (): void => (content.current?.querySelector('[data-unsaved]') ? setAsking(true) : onClose());
  return (
    <Radix.Root open onOpenChange={close}>
      <Radix.Portal>
        <Radix.Overlay
          // A press outside would take the focus out of the dialog before it closes, so the focus could not return.
          onMouseDown={(press) => {
            if (press.target === press.currentTarget) press.preventDefault();
          }}
          className="fixed inset-0 z-40 grid grid-cols-[minmax(0,1fr)] place-items-center overflow-y-auto bg-veil p-4 animate-fade-in"
        >
          <Radix.Content
            ref={content}
            role={role}
            onOpenAutoFocus={focusMarked}
            // Radix only returns the focus to a trigger: see `followFocus`.
            onCloseAutoFocus={(closing) => closing.preventDefault()}
            onInput={({ target }: FormEvent) => {
              if (target instanceof Element) edited.current = target.closest('form');
            }}
            onInteractOutside={(press) => {
              if (isAlert || edited.current?.isConnected === true) press.preventDefault();
            }}
            onEscapeKeyDown={(press) => {
              if (isUsedByField(press.target) || isOfInputMethod({ nativeEvent: press })) press.preventDefault();
            }}
            // Radix gives the key to the newest layer alone, which may be a toast.
            onKeyDown={(press) => {
              if (press.key !== 'Escape' || press.defaultPrevented || isOfInputMethod(press)) return;
              press.preventDefault();
              close();
            }}
            {...(description === undefined ? { 'aria-describedby': undefined } : {})}
            className={clsx(
              'relative w-full rounded-lg border border-line-strong bg-panel shadow-float animate-rise-in',
              WIDTHS[width],
              bare ? 'self-start mt-[10vh]' : 'p-5',
            )}
          >
            <div className={clsx('flex flex-col gap-1', bare && 'sr-only', !isAlert && 'mb-4 pr-8')}>
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {description === undefined ? null : (
                <Radix.Description className="wrap-anywhere text-ink-2">{description}</Radix.Description>
              )}
            </div>
            {children}
            {footer === undefined ? null : <div className="mt-5 flex flex-wrap justify-end gap-2">{footer}</div>}
            {bare || footer !== undefined ? null : (
              <Radix.Close
                aria-label="Close"
                className="absolute top-4 right-4 grid size-6 place-items-center rounded-md text-ink-2 hover:bg-sunk hover:text-ink"
              >
                <X className="size-3.5" />
              </Radix.Close>
            )}
            {isAsking ? (
              <ConfirmDialog
                title="Discard changes?"
                description="What you entered is not saved."
                confirmLabel="Discard"
                cancelLabel="Keep editing"
                onConfirm={onClose}
                onClose={() => setAsking(false)}
              />
            ) : null}
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Makes a button of the footer close its dialog like the one in the corner. */
export const DialogClose = Radix.Close;

/** Marks a field while its Escape key closes something of its own, such as suggestions. Radix hears the key first. */
export const USES_ESCAPE = { 'data-uses-escape': '' } as const;

const isUsedByField = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches('[data-uses-escape]');

function focusMarked(opening: Event): void {
  if (!(opening.currentTarget instanceof HTMLElement)) return;
  const marked = opening.currentTarget.querySelector<HTMLElement>('[data-first-focus]:enabled');
  if (marked === null) return;
  opening.preventDefault();
  marked.focus();
}

interface ConfirmDialogProps {
  readonly title: string;
  readonly description: string;
  /** Label of the confirm button, a verb: 'Delete'. */
  readonly confirmLabel: string;
  /** Label of the other button, if 'Cancel' could be misunderstood. */
  readonly cancelLabel?: string;
  /** The dialog closes after it. */
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly destructive?: boolean;
  /** True while the action can't be confirmed. */
  readonly busy?: boolean;
  /** Content between the description and the buttons. */
  readonly children?: ReactNode;
}

/** Confirms an action that can't be undone. The focus starts on Cancel. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, description, confirmLabel, cancelLabel = 'Cancel', onConfirm, onClose, children } = props;
  const { destructive = true, busy = false } = props;
  const confirm = (): void => {
    onConfirm();
    onClose();
  };
  return (
    <Dialog
      role="alertdialog"
      title={title}
      description={description}
      onClose={onClose}
      footer={
        <>
          <Button data-first-focus onClick={onClose}>
            {cancelLabel}
          </Button>
          <Button variant={destructive ? 'danger' : 'primary'} busy={busy} onClick={confirm}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}

interface ConfirmButtonProps extends Omit<ComponentProps<typeof Button>, 'onClick'> {
  readonly confirm: Omit<ConfirmDialogProps, 'onClose'>;
}

/** A button whose action must be confirmed. */
export function ConfirmButton({ confirm, ...button }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setAsking(true)} />
      {isAsking ? <ConfirmDialog {...confirm} onClose={() => setAsking(false)} /> : null}
    </>
  );
}
