import { clsx } from 'clsx';
import { Switch as Radix } from 'radix-ui';
import type { ComponentProps } from 'react';

/** On or off, at once. Name it with a label, `aria-label` or `aria-labelledby`. */
export function Switch({ className, ...rest }: ComponentProps<typeof Radix.Root>) {
  return (
    <Radix.Root
      className={clsx(
        'relative h-4 w-7 shrink-0 rounded-full bg-line-strong transition-colors duration-100',
        'data-[state=checked]:bg-accent disabled:opacity-50',
        className,
      )}
      {...rest}
    >
      <Radix.Thumb className="block size-3 translate-x-0.5 rounded-full bg-panel shadow-sm transition-transform duration-100 data-[state=checked]:translate-x-3.5" />
    </Radix.Root>
  );
}
