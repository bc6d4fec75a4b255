import { clsx } from 'clsx';
import { useId } from 'react';
import type { ReactNode, ComponentProps } from 'react';

interface FieldControl {
  readonly id: string;
  readonly 'aria-invalid': boolean | undefined;
  readonly 'aria-describedby': string | undefined;
}

interface FieldProps {
  readonly label: ReactNode;
  /** Validation message. Announced when it appears. */
  readonly error?: string | undefined;
  readonly hint?: ReactNode;
  readonly className?: string | undefined;
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
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children(control)}
      {hint === undefined ? null : (
        <div id={`${id}-hint`} className="text-sm wrap-anywhere text-ink-2">
          {hint}
        </div>
      )}
      <p id={`${id}-error`} role="alert" className={clsx('text-sm text-bad', error === undefined && 'hidden')}>
        {error}
      </p>
    </div>
  );
}

/** The look of inputs and selects. */
const LOOK =
  'w-full min-w-0 rounded-md border border-line-strong bg-panel text-ink transition-colors duration-100 hover:border-ink-3 ' +
  'focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0 aria-invalid:border-bad aria-invalid:outline-bad ' +
  'disabled:opacity-50 disabled:hover:border-line-strong';

interface DataProps {
  /** For data such as a URL: monospaced, without suggestions of the browser. */
  readonly isData?: boolean;
}

const DATA_PROPS = { autoComplete: 'off', spellCheck: false };
const DATA_LOOK = 'font-mono text-sm';

/** An input without a label. With `isData` it shows data as it is, without spell check. */
export function Input({ isData = false, className, ...rest }: ComponentProps<'input'> & DataProps) {
  const look = clsx(LOOK, 'h-8 px-2.5 text-ellipsis read-only:bg-sunk', isData && DATA_LOOK, className);
  return <input className={look} {...(isData && DATA_PROPS)} {...rest} />;
}

type TextFieldProps = Omit<FieldProps, 'children'> & Omit<ComponentProps<'input'>, 'className'> & DataProps;

/** An input with its label, hint and validation message. `className` applies to all of it. */
export function TextField({ label, error, hint, className, ...input }: TextFieldProps) {
  return (
    <Field label={label} error={error} hint={hint} className={className}>
      {(control) => <Input {...control} {...input} />}
    </Field>
  );
}

/** For data such as a body. */
export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={clsx(LOOK, DATA_LOOK, 'px-2.5 py-1.5', className)} {...DATA_PROPS} {...rest} />;
}

/** A select without a label. */
export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select className={clsx(LOOK, 'h-8 px-2', className)} {...rest} />;
}
