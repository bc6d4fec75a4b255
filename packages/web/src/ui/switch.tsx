import { clsx } from 'clsx';
import { Switch as Radix } from 'radix-ui';
import type { ComponentProps } from 'react';
import { busyProps } from './busy-props.ts';

export interface SwitchProps extends ComponentProps<typeof Radix.Root> {
  /** Ignores presses during a change and keeps the focus, which `disabled` would drop. */
  readonly busy?: boolean;
}

/** A switch that applies at once. Name it with a label, `aria-label` or `aria-labelledby`. */
export function Switch({ busy = false, className, ...rest }: SwitchProps) {
  return (
    <Radix.Root
      className={clsx(
        'relative h-4 w-7 shrink-0 rounded-full bg-line-strong transition-colors duration-100',
        'data-[state=checked]:bg-accent disabled:opacity-50',
        className,
      )}
      {...rest}
      {...busyProps(busy)}
    >
      <Radix.Thumb className="block size-3 translate-x-0.5 rounded-full bg-panel shadow-sm transition-transform duration-100 data-[state=checked]:translate-x-3.5" />
    </Radix.Root>
  );
}
