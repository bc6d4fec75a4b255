import { clsx } from 'clsx';
import { Label } from 'radix-ui';
import { useId } from 'react';
import type { ReactNode } from 'react';

export interface FieldControl {
  readonly id: string;
  readonly 'aria-invalid': boolean | undefined;
  readonly 'aria-describedby': string | undefined;
}

export interface FieldProps {
  readonly label: ReactNode;
  /** Validation message. Announced when it appears. */
  readonly error?: string | undefined;
  readonly hint?: ReactNode;
  readonly className?: string;
  /** Receives the attributes that link the control to its label, hint and error. */
  readonly children: (control: FieldControl) => ReactNode;
}

/** A control with its label, hint and validation message. */
export function Field({ label, error, hint, className, children }: FieldProps) {
  const id = useId();
  const describedBy = [error === undefined ? undefined : `${id}-error`, hint === undefined ? undefined : `${id}-hint`];
  const control: FieldControl = {
    id,
    'aria-invalid': error === undefined ? undefined : true,
    'aria-describedby': describedBy.filter((part) => part !== undefined).join(' ') || undefined,
  };
  return (
    <div className={clsx('flex flex-col gap-1.5', className)}>
      <Label.Root htmlFor={id} className="font-medium">
        {label}
      </Label.Root>
      {children(control)}
      {hint === undefined ? null : (
        <div id={`${id}-hint`} className="text-sm text-ink-2">
          {hint}
        </div>
      )}
      <p id={`${id}-error`} role="alert" className={clsx('text-sm text-bad', error === undefined && 'hidden')}>
        {error}
      </p>
    </div>
  );
}
