import { clsx } from 'clsx';
import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { useFocusBack } from './focus.ts';

const WIDTHS = { sm: 'max-w-md', md: 'max-w-xl', lg: 'max-w-4xl' } as const;

interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description?: ReactNode;
  /** Hides heading and description from all but screen readers. */
  readonly bare?: boolean;
  readonly width?: keyof typeof WIDTHS;
  readonly children?: ReactNode;
  readonly footer?: ReactNode;
}

/**
 * A modal dialog. The focus moves to the element marked `data-first-focus` or the first one, stays inside, and returns
 * afterwards. Escape closes.
 */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  bare = false,
  width = 'sm',
  children,
  footer,
}: DialogProps) {
  const focus = useFocusBack();
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 grid grid-cols-[minmax(0,1fr)] place-items-center overflow-y-auto bg-veil p-4 animate-fade-in">
          <Radix.Content
            onOpenAutoFocus={(opening) => {
              focus.remember();
              focusMarked(opening);
            }}
            onCloseAutoFocus={focus.onCloseAutoFocus}
            {...(description === undefined ? { 'aria-describedby': undefined } : {})}
            className={clsx(
              'relative w-full rounded-lg border border-line-strong bg-panel shadow-float animate-rise-in',
              WIDTHS[width],
              bare ? 'self-start mt-[10vh]' : 'p-5',
            )}
          >
            <div className={clsx('flex flex-col gap-1 pr-8', bare ? 'sr-only' : 'mb-4')}>
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {description === undefined ? null : (
                <Radix.Description className="text-ink-2">{description}</Radix.Description>
              )}
            </div>
            {children}
            {footer === undefined ? null : <div className="mt-5 flex flex-wrap justify-end gap-2">{footer}</div>}
            {bare ? null : (
              <Radix.Close
                aria-label="Close"
                className="absolute top-4 right-4 grid size-6 place-items-center rounded-md text-ink-2 hover:bg-sunk hover:text-ink"
              >
                <X className="size-3.5" />
              </Radix.Close>
            )}
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}

function focusMarked(opening: Event): void {
  if (!(opening.currentTarget instanceof HTMLElement)) return;
  const marked = opening.currentTarget.querySelector<HTMLElement>('[data-first-focus]');
  if (marked === null) return;
  opening.preventDefault();
  marked.focus();
}
