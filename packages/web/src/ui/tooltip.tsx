import { Tooltip as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { Kbd } from './kbd.tsx';

export interface TooltipProps {
  readonly text: ReactNode;
  readonly keys?: string | undefined;
  /** One element that accepts a ref. Wrap a disabled control in a focusable span, or its tooltip can't be reached. */
  readonly children: ReactNode;
}

export function Tooltip({ text, keys, children }: TooltipProps) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 flex max-w-72 items-center gap-2 rounded-md border border-line-strong bg-panel px-2 py-1 text-sm text-ink shadow-float animate-fade-in"
        >
          {text}
          {keys === undefined ? null : <Kbd>{keys}</Kbd>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export const TooltipProvider = ({ children }: { readonly children: ReactNode }) => (
  <Radix.Provider delayDuration={400} skipDelayDuration={150}>
    {children}
  </Radix.Provider>
);
