import { clsx } from 'clsx';
import { Slot, Tooltip as Radix } from 'radix-ui';
import type { ComponentProps, FocusEvent, MouseEvent, ReactNode } from 'react';
import { singleKeysPreference } from './commands.ts';
import { useSignal } from './state.ts';

/** Props of a control that ignores presses during an action. It announces that and keeps the focus. */
export function busyProps(busy: boolean) {
  return busy ? ({ 'aria-disabled': true, onClick: refuse } as const) : {};
}

/** Key presses arrive as clicks, and a form is submitted by a click on its button. */
function refuse(press: MouseEvent): void {
  press.preventDefault();
  press.stopPropagation();
}

const VARIANTS = {
  primary: 'bg-accent text-accent-ink not-aria-disabled:hover:bg-accent-strong border-transparent',
  secondary: 'bg-panel text-ink border-line-strong not-aria-disabled:hover:bg-sunk',
  ghost:
    'bg-transparent text-ink-2 border-transparent not-aria-disabled:hover:bg-sunk not-aria-disabled:hover:text-ink',
  danger: 'bg-bad text-bad-ink border-transparent not-aria-disabled:hover:opacity-90',
  'danger-ghost': 'bg-transparent text-bad border-transparent not-aria-disabled:hover:bg-bad-soft',
} as const;

const SIZES = { sm: 'h-7 px-2.5 text-sm gap-1.5', md: 'h-8 px-3 gap-2' } as const;

interface ButtonProps extends ComponentProps<'button'> {
  readonly variant?: keyof typeof VARIANTS;
  readonly size?: keyof typeof SIZES;
  /** Renders its only child, for example a link, with the look of a button. */
  readonly asChild?: boolean;
  /** Ignores presses during an action and keeps the focus, which `disabled` would drop. */
  readonly busy?: boolean;
  /**
   * Why the button does nothing, as its description and its tooltip; `undefined` if it works. The button can still be
   * focused, so that the keyboard reaches the reason, too.
   */
  readonly reason?: string | undefined;
}

/** A button, or with `asChild` its child with the look of one. */
export function Button(props: ButtonProps) {
  const { variant = 'secondary', size = 'md', asChild = false, busy = false, reason, className, type, ...rest } = props;
  const Element = asChild ? Slot.Root : 'button';
  const button = (
    <Element
      type={asChild ? undefined : (type ?? 'button')}
      aria-description={reason}
      className={clsx(
        'inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap select-none',
        'transition-colors duration-100 disabled:pointer-events-none disabled:opacity-50 aria-disabled:opacity-50',
        '[&_svg]:size-3.5 [&_svg]:shrink-0',
        VARIANTS[variant],
        SIZES[size],
        className,
      )}
      {...rest}
      {...busyProps(busy || reason !== undefined)}
    />
  );
  return reason === undefined ? button : <Tooltip text={reason}>{button}</Tooltip>;
}

/** A button in a sentence. It looks like a link, and is exempt from the height of touch targets as a link is. */
export function InlineButton({ className, ...rest }: ComponentProps<'button'>) {
  return <button type="button" data-inline className={clsx('underline underline-offset-2', className)} {...rest} />;
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  /** Accessible name, also shown as the tooltip. */
  readonly label: string;
  readonly icon: ReactNode;
  /** Shortcut, shown in the tooltip. */
  readonly keys?: string;
  readonly size?: 'sm' | 'md';
}

/** A button with only an icon and an accessible name. */
export function IconButton({ label, icon, keys, size = 'sm', className, type = 'button', ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label} keys={keys}>
      <button
        type={type}
        aria-label={label}
        className={clsx(
          'inline-flex shrink-0 items-center justify-center rounded-md text-ink-2 transition-colors duration-100',
          'hover:bg-sunk hover:text-ink disabled:pointer-events-none disabled:opacity-50 aria-pressed:text-accent data-on:text-accent',
          size === 'sm' ? 'size-6 [&_svg]:size-3.5' : 'size-8 [&_svg]:size-4',
          className,
        )}
        {...rest}
      >
        {icon}
      </button>
    </Tooltip>
  );
}

interface TooltipProps {
  readonly text: ReactNode;
  readonly keys?: string | undefined;
  /** One element that accepts a ref. A disabled one has no events: see `reason` of a button. */
  readonly children: ReactNode;
}

/** When a dialog closes, the focus returns from nowhere. A tooltip would cover the page, and take the next Escape. */
function keepClosedOnReturn(focus: FocusEvent): void {
  if (focus.relatedTarget === null) focus.preventDefault();
}

function Tooltip({ text, keys, children }: TooltipProps) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild onFocus={keepClosedOnReturn}>
        {children}
      </Radix.Trigger>
      <Radix.Portal>
        {/* Radix would wait for the end of an animation to remove it. If it opened again meanwhile, it would close itself. */}
        <Radix.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 flex max-w-72 items-center gap-2 rounded-md border border-line-strong bg-panel px-2 py-1 text-sm text-ink shadow-float animate-fade-in data-[state=closed]:animate-none"
        >
          {text}
          {keys === undefined ? null : <Kbd>{keys}</Kbd>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Gives all tooltips of the page the same delay. */
export const TooltipProvider = ({ children }: { readonly children: ReactNode }) => (
  <Radix.Provider delayDuration={400} skipDelayDuration={150}>
    {children}
  </Radix.Provider>
);

interface KbdProps {
  readonly children: string;
  /** True if the key is not only a hint beside a control. A hint would become part of the control's name. */
  readonly isRead?: boolean;
  readonly className?: string;
}

/** A key. As a hint, it is hidden if the user has turned off keys like it. */
export function Kbd({ children, isRead = false, className }: KbdProps) {
  const hasSingleKeys = useSignal(singleKeysPreference);
  if (!isRead && children.length === 1 && !hasSingleKeys) return null;
  return (
    <kbd
      aria-hidden={isRead ? undefined : true}
      className={clsx(
        'inline-flex h-4 min-w-4 items-center justify-center rounded-sm border border-line-strong bg-sunk px-1 text-[0.625rem] leading-none text-ink-2',
        className,
      )}
    >
      {children}
    </kbd>
  );
}
