import { ApiError } from '@creel/contract';
import { useEffect, useReducer, useRef, useState } from 'react';
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

/**
 * Focuses the first invalid field after a form was rejected. An effect does that, because React may render the
 * messages later than the next frame. If a dialog has opened in the meantime, the focus stays there.
 */
export function useRefusal(): readonly [form: RefObject<HTMLFormElement | null>, refused: () => void] {
  const form = useRef<HTMLFormElement>(null);
  const [times, refused] = useReducer((before: number) => before + 1, 0);
  useEffect(() => {
    if (times === 0 || form.current === null || form.current.closest('[aria-hidden="true"]') !== null) return;
    form.current.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [times]);
  return [form, refused];
}

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
  readonly setErrors: (errors: FieldErrors) => void;
  readonly reset: () => void;
}

/** Text fields with validation messages. Changing a field removes its message. */
export function useForm<V extends Values>(options: {
  readonly initial: V;
  readonly validate: (values: V) => FieldErrors;
  readonly onValid: (values: V) => void;
}): Form<V> {
  const [values, setValues] = useState(options.initial);
  const [errors, setErrors] = useState<FieldErrors>({});
  const [ref, refused] = useRefusal();

  const set = (field: keyof V & string, value: string): void => {
    setValues((before) => ({ ...before, [field]: value }));
    setErrors(({ [field]: _, ...rest }) => rest);
  };
  const refuse = (found: FieldErrors): void => {
    setErrors(found);
    refused();
  };
  const onSubmit = (submit: FormEvent<HTMLFormElement>): void => {
    submit.preventDefault();
    const found = options.validate(values);
    if (Object.keys(found).length > 0) return refuse(found);
    setErrors({});
    options.onValid(values);
  };
  return {
    values,
    errors,
    props: { ref, noValidate: true, onSubmit },
    set,
    setErrors: refuse,
    bind: (field) => ({
      name: field,
      value: values[field] ?? '',
      onChange: (change) => set(field, change.currentTarget.value),
    }),
    reset: () => {
      setValues(options.initial);
      setErrors({});
    },
  };
}
