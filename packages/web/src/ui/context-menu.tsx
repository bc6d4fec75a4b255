import { clsx } from 'clsx';
import { ContextMenu as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { MENU_ITEM } from './dropdown-menu.tsx';

interface ContextMenuProps {
  /** One element that accepts a ref. A right click, a long press or the menu key on it opens the menu. */
  readonly children: ReactNode;
  readonly items: ReactNode;
  readonly label: string;
  readonly onOpenChange?: (open: boolean) => void;
}

/** A menu at the pointer or the finger. */
export function ContextMenu({ children, items, label, onOpenChange }: ContextMenuProps) {
  return (
    <Radix.Root {...(onOpenChange === undefined ? {} : { onOpenChange })}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          collisionPadding={8}
          className="z-50 min-w-48 rounded-lg border border-line-strong bg-panel p-1 shadow-float animate-fade-in"
        >
          {items}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ContextMenuItemProps {
  readonly onSelect: () => void;
  readonly disabled?: boolean;
  readonly destructive?: boolean;
  readonly children: ReactNode;
}

export function ContextMenuItem({ onSelect, disabled = false, destructive = false, children }: ContextMenuItemProps) {
  return (
    <Radix.Item
      onSelect={onSelect}
      disabled={disabled}
      className={clsx(MENU_ITEM, destructive ? 'text-bad [&_svg]:text-bad' : 'text-ink')}
    >
      {children}
    </Radix.Item>
  );
}
