import { clsx } from 'clsx';
import { Slot } from 'radix-ui';
import type { ComponentProps } from 'react';
import { busyProps } from './busy-props.ts';

const VARIANTS = {
  primary: 'bg-accent text-accent-ink hover:bg-accent-strong border-transparent',
  secondary: 'bg-panel text-ink border-line-strong hover:bg-sunk',
  ghost: 'bg-transparent text-ink-2 border-transparent hover:bg-sunk hover:text-ink',
  danger: 'bg-bad text-bad-ink border-transparent hover:opacity-90',
  'danger-ghost': 'bg-transparent text-bad border-transparent hover:bg-bad-soft',
} as const;

const SIZES = { sm: 'h-7 px-2.5 text-sm gap-1.5', md: 'h-8 px-3 gap-2' } as const;

export interface ButtonProps extends ComponentProps<'button'> {
  readonly variant?: keyof typeof VARIANTS;
  readonly size?: keyof typeof SIZES;
  /** Renders its only child, for example a link, with the look of a button. */
  readonly asChild?: boolean;
  /** Ignores presses during an action and keeps the focus, which `disabled` would drop. */
  readonly busy?: boolean;
}

export function Button(props: ButtonProps) {
  const { variant = 'secondary', size = 'md', asChild = false, busy = false, className, type, ...rest } = props;
  const Element = asChild ? Slot.Root : 'button';
  return (
    <Element
      type={asChild ? undefined : (type ?? 'button')}
      className={clsx(
        'inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap select-none',
        'transition-colors duration-100 disabled:pointer-events-none disabled:opacity-50 aria-disabled:pointer-events-none aria-disabled:opacity-50',
        '[&_svg]:size-3.5 [&_svg]:shrink-0',
        VARIANTS[variant],
        SIZES[size],
        className,
      )}
      {...rest}
      {...busyProps(busy)}
    />
  );
}
