import { useState } from 'react';
import type { FormEvent, RefObject } from 'react';
import { useRefusal } from './use-refusal.ts';

type Values = Readonly<Record<string, string>>;
type Errors = Readonly<Record<string, string>>;

export interface Form<V extends Values> {
  readonly values: V;
  readonly errors: Errors;
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
  readonly setErrors: (errors: Errors) => void;
  readonly reset: () => void;
}

/** Text fields with validation messages. Changing a field removes its message. */
export function useForm<V extends Values>(options: {
  readonly initial: V;
  readonly validate: (values: V) => Errors;
  readonly onValid: (values: V) => void;
}): Form<V> {
  const [values, setValues] = useState(options.initial);
  const [errors, setErrors] = useState<Errors>({});
  const [ref, refused] = useRefusal();

  const set = (field: keyof V & string, value: string): void => {
    setValues((before) => ({ ...before, [field]: value }));
    setErrors(({ [field]: _, ...rest }) => rest);
  };
  const refuse = (found: Errors): void => {
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
