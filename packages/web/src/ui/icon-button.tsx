import { clsx } from 'clsx';
import type { ComponentProps, ReactNode } from 'react';
import { Tooltip } from './tooltip.tsx';

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
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
          'hover:bg-sunk hover:text-ink disabled:pointer-events-none disabled:opacity-50 aria-pressed:text-accent',
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
