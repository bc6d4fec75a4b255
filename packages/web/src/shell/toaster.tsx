import { clsx } from 'clsx';
import { X } from 'lucide-react';
import { Toast as Radix } from 'radix-ui';
import { useLayoutEffect, useRef } from 'react';
import { IS_LAYER, keepsFocus, returnFocus } from '../ui/focus.ts';
import { useSignal } from '../ui/state.ts';
import { dismissToast, TOAST_MS, toastStore } from '../ui/toast-store.ts';
import type { ToastItem } from '../ui/toast-store.ts';

/**
 * Radix announces a toast by repeating its text in this element for a second. It is not in the page, because the list
 * of toasts is announced itself. A search in the page would find the text twice.
 */
const UNUSED_ANNOUNCER = document.createElement('div');

/**
 * Toasts: one at a time for 5 seconds. F8 moves the focus there, and a swipe of 50 px to the right closes a toast. They
 * are in the lower corner of the list, above its bar: the opposite corner has the response of a replay.
 */
export function Toaster() {
  const item = useSignal(toastStore);
  const frame = useRef<HTMLOListElement>(null);
  const isEmpty = item?.open !== true;
  // Radix leaves the focus of a closed toast in the empty list, which can't be seen.
  useLayoutEffect(() => {
    if (isEmpty) returnFocus(frame.current);
  }, [isEmpty]);
  return (
    <Radix.Provider swipeDirection="right" swipeThreshold={50} announcerContainer={UNUSED_ANNOUNCER}>
      {item === undefined ? null : <ToastCard key={item.id} item={item} />}
      <Radix.Viewport
        ref={frame}
        {...IS_LAYER}
        {...keepsFocus('li')}
        label="Notifications (F8)"
        hotkey={isEmpty ? [] : ['F8']}
        aria-live={item?.variant === 'destructive' ? 'assertive' : 'polite'}
        className="fixed bottom-8 left-0 z-60 flex w-full max-w-sm flex-col gap-2 rounded-[1.375rem] p-4 -outline-offset-14 md:left-58"
      />
    </Radix.Provider>
  );
}

function ToastCard({ item }: { readonly item: ToastItem }) {
  const { title, description, variant = 'default', duration = TOAST_MS, action } = item;
  return (
    <Radix.Root
      open={item.open}
      onOpenChange={(open) => (open ? undefined : dismissToast(item.id))}
      duration={duration}
      className={clsx(
        'flex items-center gap-3 rounded-lg border bg-panel p-3 shadow-float animate-rise-in',
        'data-[swipe=move]:translate-x-(--radix-toast-swipe-move-x) data-[swipe=end]:translate-x-full data-[swipe=end]:opacity-0',
        'data-[swipe=cancel]:translate-x-0 data-[swipe=cancel]:transition-transform data-[swipe=end]:transition-all',
        variant === 'destructive' ? 'border-bad' : 'border-line-strong',
      )}
    >
      <div className="min-w-0 grow">
        <Radix.Title className={clsx('font-medium', variant === 'destructive' && 'text-bad')}>{title}</Radix.Title>
        {description === undefined ? null : (
          <Radix.Description className="wrap-anywhere text-ink-2">{description}</Radix.Description>
        )}
      </div>
      {action === undefined ? null : (
        <Radix.Action
          altText={action.label}
          onClick={action.run}
          className="h-7 shrink-0 rounded-md border border-line-strong px-2.5 text-sm font-medium hover:bg-sunk"
        >
          {action.label}
        </Radix.Action>
      )}
      <Radix.Close
        aria-label="Close"
        className="grid size-6 shrink-0 place-items-center rounded-md text-ink-2 hover:bg-sunk hover:text-ink"
      >
        <X className="size-3.5" />
      </Radix.Close>
    </Radix.Root>
  );
}
