import { clsx } from 'clsx';
import { Switch as Radix } from 'radix-ui';
import { useId } from 'react';
import type { ReactNode, ComponentProps } from 'react';
import { busyProps } from './button.tsx';

interface SwitchProps extends ComponentProps<typeof Radix.Root> {
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
        // A finger needs 44 px (WCAG 2.5.5).
        'pointer-coarse:before:absolute pointer-coarse:before:-inset-x-2 pointer-coarse:before:-inset-y-3.5',
        className,
      )}
      {...rest}
      {...busyProps(busy)}
    >
      <Radix.Thumb className="block size-3 translate-x-0.5 rounded-full bg-panel shadow-sm transition-transform duration-100 data-[state=checked]:translate-x-3.5" />
    </Radix.Root>
  );
}

interface SwitchRowProps {
  readonly label: string;
  readonly description: ReactNode;
  /** Validation message. */
  readonly error?: string | undefined;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onCheckedChange: (isOn: boolean) => void;
}

/** A switch with a title and a description. */
export function SwitchRow(props: SwitchRowProps) {
  const { label, description, error, checked, disabled = false, onCheckedChange } = props;
  const id = useId();
  return (
    <div className="flex items-start justify-between gap-6 py-2.5">
      <div>
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        <p id={`${id}-about`} className="text-sm text-ink-2">
          {description}
        </p>
        <p id={`${id}-error`} role="alert" className="text-sm text-bad empty:hidden">
          {error}
        </p>
      </div>
      <Switch
        id={id}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={error === undefined ? `${id}-about` : `${id}-error ${id}-about`}
        checked={checked}
        disabled={disabled}
        onCheckedChange={onCheckedChange}
        className="mt-1"
      />
    </div>
  );
}
