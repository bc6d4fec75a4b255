import { ApiError, isEndOfSession } from '@creel/contract';
import { useEffect, useRef, useState } from 'react';
import type { ComponentProps, FormEvent } from 'react';
import type { z } from 'zod';
import { Button } from './button.tsx';
import { Notice } from './feedback.tsx';

/** Messages by field name. */
export type FieldErrors = Readonly<Record<string, string>>;

/** The first message for each field that a schema rejects; empty if the values are valid. */
export function fieldErrors(schema: z.ZodType, values: unknown): FieldErrors {
  const parsed = schema.safeParse(values);
  if (parsed.success) return {};
  const errors: Record<string, string> = {};
  for (const issue of parsed.error.issues) errors[String(issue.path[0] ?? '')] ??= issue.message;
  return errors;
}

/** The server's messages by field, for the fields of a form. */
export function serverFieldErrors(error: unknown, fields: readonly string[]): FieldErrors {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(Object.entries(error.fields).filter(([field]) => fields.includes(field)));
}

/** The values of a form by field name. */
type Values = Readonly<Record<string, unknown>>;

/** The messages of a form. `refusals`: number of submissions that were rejected at a field. */
interface FormErrors {
  /** What was rejected. */
  readonly rejected: Values;
  readonly errors: FieldErrors;
  /** Why the call failed, if the server named no field of the form. */
  readonly failure: string | undefined;
  readonly refusals: number;
}

const NO_ERRORS: FormErrors = { rejected: {}, errors: {}, failure: undefined, refusals: 0 };

/** The messages of a form with these values. A changed field has no message, and a changed form none of a failed call. */
export function useFormErrors(values: Values) {
  const ref = useRef<HTMLFormElement>(null);
  const [{ rejected, errors, failure, refusals }, setState] = useState(NO_ERRORS);
  const isSame = (field: string): boolean => values[field] === rejected[field];
  // React may render the messages after the next frame. If a dialog has opened by then, it keeps the focus.
  useEffect(() => {
    if (refusals === 0 || ref.current === null || ref.current.closest('[aria-hidden="true"]') !== null) return;
    ref.current.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusals]);
  const refuse = (found: FieldErrors, error?: unknown): void => {
    if (!isEndOfSession(error))
      setState((before) => ({ ...NO_ERRORS, rejected: values, errors: found, refusals: before.refusals + 1 }));
  };
  return {
    /** For the form element. */
    ref,
    errors: Object.fromEntries(Object.entries(errors).filter(([field]) => isSame(field))),
    failure: Object.keys(values).every(isSame) ? failure : undefined,
    /**
     * Sets the messages of a failed submission and focuses the first invalid field. With the `error` of a call, the end
     * of the session sets none, because the login dialog reports it.
     */
    refuse,
    /** Shows why the call failed: at the fields that the server names, else `reason` above the form. */
    fail(error: unknown, reason: string | undefined): void {
      if (isEndOfSession(error)) return;
      const found = serverFieldErrors(error, Object.keys(values));
      if (Object.keys(found).length > 0) refuse(found);
      else setState((before) => ({ ...before, rejected: values, errors: {}, failure: reason }));
    },
    /** Removes all messages. */
    clear: (): void => setState((before) => ({ ...NO_ERRORS, refusals: before.refusals })),
  };
}

interface SubmitButtonProps extends Omit<ComponentProps<typeof Button>, 'type' | 'children'> {
  readonly label: string;
  /** Replaces the label during the call. */
  readonly pendingLabel: string;
  readonly isPending: boolean;
}

/** Submits its form. Ignores presses during the call. */
export function SubmitButton({ label, pendingLabel, isPending, busy = false, ...button }: SubmitButtonProps) {
  return (
    <Button type="submit" variant="primary" busy={busy || isPending} {...button}>
      {isPending ? pendingLabel : label}
    </Button>
  );
}

interface FormButtonsProps extends SubmitButtonProps {
  readonly onCancel: () => void;
  /** 'Cancel' by default. */
  readonly cancelLabel?: string;
}

/** The buttons at the end of a form in a dialog. */
export function FormButtons({ onCancel, cancelLabel = 'Cancel', ...submit }: FormButtonsProps) {
  return (
    <div className="flex justify-end gap-2">
      <Button onClick={onCancel}>{cancelLabel}</Button>
      <SubmitButton {...submit} />
    </div>
  );
}

interface FormProps extends Omit<ComponentProps<'form'>, 'className' | 'noValidate' | 'onSubmit'> {
  readonly failure?: string | undefined;
  readonly onSubmit: () => void;
}

/** A form with the reason why its call failed above the fields. The browser neither validates nor submits it. */
export function Form({ failure, onSubmit, children, ...rest }: FormProps) {
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form {...rest} onSubmit={submit} noValidate className="flex flex-col gap-4">
      {failure === undefined ? null : <Notice tone="bad">{failure}</Notice>}
      {children}
    </form>
  );
}

/** Text fields with validation messages. A field that the user has not changed follows `initial`. */
export function useForm<V extends Readonly<Record<string, string>>>(options: {
  readonly initial: V;
  /** Without one, only the server checks the values. */
  readonly schema?: z.ZodType | undefined;
  readonly onValid: (values: V) => void;
}) {
  const [edits, setEdits] = useState<Partial<V>>({});
  const values = { ...options.initial, ...edits };
  const { ref, clear, ...messages } = useFormErrors(values);

  const onSubmit = (): void => {
    const found = options.schema === undefined ? {} : fieldErrors(options.schema, values);
    if (Object.keys(found).length > 0) return messages.refuse(found);
    clear();
    options.onValid(values);
  };
  return {
    ...messages,
    values,
    /** Value, validation message and change handler of a field. */
    bind: (field: keyof V & string) => ({
      name: field,
      value: values[field] ?? '',
      error: messages.errors[field],
      onChange: ({ currentTarget: { value } }: FormEvent<HTMLInputElement>) =>
        setEdits((before) => ({ ...before, [field]: value })),
    }),
    /** Props of the `Form`. */
    props: { ref, onSubmit },
    reset: () => {
      setEdits({});
      clear();
    },
  };
}
