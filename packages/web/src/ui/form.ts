import { ApiError } from '@creel/contract';
import { useEffect, useRef, useState } from 'react';
import type { RefObject, FormEvent } from 'react';
import type { z } from 'zod';

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

/** The server's messages by field, for the fields of this form. Everything else belongs above the form. */
export function serverFieldErrors(error: unknown, fields: readonly string[]): FieldErrors {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(Object.entries(error.fields).filter(([field]) => fields.includes(field)));
}

interface FormErrors {
  /** For the form element. */
  readonly ref: RefObject<HTMLFormElement | null>;
  readonly errors: FieldErrors;
  /** Sets the messages of a failed submission and focuses the first invalid field. */
  readonly refuse: (found: FieldErrors) => void;
  /** Removes the messages of these fields, or all of them. */
  readonly clear: (...fields: readonly string[]) => void;
}

/** The messages of a form that was rejected. */
export function useFormErrors(): FormErrors {
  const ref = useRef<HTMLFormElement>(null);
  const [{ errors, refusals }, setState] = useState<{ errors: FieldErrors; refusals: number }>(NO_ERRORS);
  // React may render the messages later than the next frame. If a dialog has opened in the meantime, it keeps the focus.
  useEffect(() => {
    if (refusals === 0 || ref.current === null || ref.current.closest('[aria-hidden="true"]') !== null) return;
    ref.current.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusals]);
  return {
    ref,
    errors,
    refuse: (found) => setState((before) => ({ errors: found, refusals: before.refusals + 1 })),
    clear: (...fields) =>
      setState((before) => {
        const rest = Object.entries(before.errors).filter(([field]) => fields.length > 0 && !fields.includes(field));
        return { ...before, errors: Object.fromEntries(rest) };
      }),
  };
}

const NO_ERRORS = { errors: {}, refusals: 0 };

type Values = Readonly<Record<string, string>>;

interface Form<V extends Values> {
  readonly values: V;
  readonly errors: FieldErrors;
  /** Value and change handler of a field. */
  readonly bind: (field: keyof V & string) => {
    name: string;
    value: string;
    onChange: (change: FormEvent<HTMLInputElement>) => void;
  };
  /** Props of the form element: `<form {...form.props}>`. The browser's own validation is off. */
  readonly props: {
    readonly ref: RefObject<HTMLFormElement | null>;
    readonly noValidate: true;
    readonly onSubmit: (submit: FormEvent<HTMLFormElement>) => void;
  };
  readonly set: (field: keyof V & string, value: string) => void;
  /** Sets the messages of a failed submission and focuses the first invalid field. */
  readonly refuse: (found: FieldErrors) => void;
  readonly reset: () => void;
}

/** Text fields with validation messages. Changing a field removes its message. */
export function useForm<V extends Values>(options: {
  readonly initial: V;
  readonly validate: (values: V) => FieldErrors;
  readonly onValid: (values: V) => void;
}): Form<V> {
  const [values, setValues] = useState(options.initial);
  const { ref, errors, refuse, clear } = useFormErrors();

  const set = (field: keyof V & string, value: string): void => {
    setValues((before) => ({ ...before, [field]: value }));
    clear(field);
  };
  const onSubmit = (submit: FormEvent<HTMLFormElement>): void => {
    submit.preventDefault();
    const found = options.validate(values);
    if (Object.keys(found).length > 0) return refuse(found);
    clear();
    options.onValid(values);
  };
  return {
    values,
    errors,
    props: { ref, noValidate: true, onSubmit },
    set,
    refuse,
    bind: (field) => ({
      name: field,
      value: values[field] ?? '',
      onChange: (change) => set(field, change.currentTarget.value),
    }),
    reset: () => {
      setValues(options.initial);
      clear();
    },
  };
}
