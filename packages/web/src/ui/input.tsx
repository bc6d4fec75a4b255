import { clsx } from 'clsx';
import type { ComponentProps } from 'react';

/** The look of inputs and selects. */
const LOOK =
  'w-full min-w-0 rounded-md border border-line-strong bg-panel text-ink transition-colors duration-100 hover:border-ink-3 ' +
  'focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0 aria-invalid:border-bad ' +
  'disabled:opacity-50 disabled:hover:border-line-strong';

export interface InputProps extends ComponentProps<'input'> {
  /** Shows data in the monospaced font. */
  readonly mono?: boolean;
}

export function Input({ mono = false, className, ...rest }: InputProps) {
  return <input className={clsx(LOOK, 'h-8 px-2.5', mono && 'font-mono text-sm', className)} {...rest} />;
}

export interface TextAreaProps extends ComponentProps<'textarea'> {
  readonly mono?: boolean;
}

export function TextArea({ mono = false, className, ...rest }: TextAreaProps) {
  return <textarea className={clsx(LOOK, 'px-2.5 py-1.5', mono && 'font-mono text-sm', className)} {...rest} />;
}

/** A native select. */
export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select className={clsx(LOOK, 'h-8 px-2', className)} {...rest} />;
}
