import { clsx } from 'clsx';
import { DropdownMenu as Radix } from 'radix-ui';
import type { ComponentProps, ReactNode } from 'react';
import { Kbd } from './button.tsx';
import { isFocusLost } from './focus.ts';

interface DropdownMenuProps {
  /** The button that opens the menu: one element that accepts a ref. */
  readonly trigger: ReactNode;
  readonly children: ReactNode;
  readonly align?: 'start' | 'center' | 'end';
  readonly side?: 'top' | 'right' | 'bottom' | 'left';
}

/** A menu that its trigger opens. */
export function DropdownMenu({ trigger, children, align = 'end', side = 'bottom' }: DropdownMenuProps) {
  return (
    // Not modal: a click outside closes the menu and takes effect.
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          // An item may have moved the focus. Else it returns to the trigger.
          onCloseAutoFocus={(closing) => (isFocusLost() ? undefined : closing.preventDefault())}
          className={MENU}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Classes of a menu. */
export const MENU =
  'z-50 max-h-(--radix-popper-available-height) min-w-48 overflow-y-auto rounded-lg border border-line-strong bg-panel p-1 shadow-float animate-fade-in';

/** A finger needs 44 px. */
const ITEM =
  'flex h-8 items-center gap-2 rounded-md px-2 outline-none pointer-coarse:h-11 select-none data-[highlighted]:bg-sunk ' +
  'data-[disabled]:opacity-50 [&_svg]:size-3.5 [&_svg]:shrink-0 [&_svg]:text-ink-2';

/** Classes of a menu item that does something. */
export const actionClasses = (isDestructive: boolean): string =>
  clsx(ITEM, isDestructive ? 'text-bad [&_svg]:text-bad' : 'text-ink');

interface MenuItemProps extends Pick<ComponentProps<typeof Radix.Item>, 'onSelect' | 'disabled' | 'asChild'> {
  readonly destructive?: boolean;
  readonly keys?: string;
  readonly children: ReactNode;
}

/** With `asChild`, its only child, for example a link, becomes the menu item. */
export function MenuItem({ destructive = false, keys, asChild = false, children, ...item }: MenuItemProps) {
  return (
    <Radix.Item asChild={asChild} className={actionClasses(destructive)} {...item}>
      {asChild ? (
        children
      ) : (
        <>
          {children}
          {keys === undefined ? null : <Kbd className="ml-auto pointer-coarse:hidden">{keys}</Kbd>}
        </>
      )}
    </Radix.Item>
  );
}

interface MenuChoiceProps<Value extends string> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly label: string; readonly icon: ReactNode }[];
}

/** One of several options in a menu. */
export function MenuChoice<Value extends string>({ value, onChange, label, options }: MenuChoiceProps<Value>) {
  return (
    <Radix.RadioGroup value={value} aria-label={label}>
      <MenuLabel>{label}</MenuLabel>
      {options.map((option) => (
        <Radix.RadioItem
          key={option.value}
          value={option.value}
          onSelect={() => onChange(option.value)}
          className={clsx(ITEM, 'text-ink data-[state=checked]:text-accent')}
        >
          {option.icon}
          {option.label}
          <Radix.ItemIndicator className="ml-auto size-1.5 rounded-full bg-accent" />
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

/** The name of a group of items. */
export const MenuLabel = ({ children }: { readonly children: ReactNode }) => (
  <Radix.Label className="px-2 pt-1.5 pb-1 text-xs text-ink-2">{children}</Radix.Label>
);

export const MenuSeparator = () => <Radix.Separator className="my-1 h-px bg-line" />;
