import { useRef, useState } from 'react';
import type { FormEvent } from 'react';

type Values = Readonly<Record<string, string>>;
type Errors = Readonly<Record<string, string>>;

export interface Form<V extends Values> {
  readonly values: V;
  readonly errors: Errors;
  /** Value and change handler of a field, for its input. */
  readonly bind: (field: keyof V & string) => {
    name: string;
    value: string;
    onChange: (change: FormEvent<HTMLInputElement>) => void;
  };
  readonly set: (field: keyof V & string, value: string) => void;
  readonly setErrors: (errors: Errors) => void;
  readonly onSubmit: (submit: FormEvent<HTMLFormElement>) => void;
  readonly reset: () => void;
}

/** Text fields with their messages. A message goes as soon as its field is changed; a refused form brings the keyboard to its first wrong field. */
export function useForm<V extends Values>(options: {
  readonly initial: V;
  readonly validate: (values: V) => Errors;
  readonly onValid: (values: V) => void;
}): Form<V> {
  const [values, setValues] = useState(options.initial);
  const [errors, setErrors] = useState<Errors>({});
  const submitted = useRef<HTMLFormElement>(null);

  const set = (field: keyof V & string, value: string): void => {
    setValues((before) => ({ ...before, [field]: value }));
    setErrors(({ [field]: _, ...rest }) => rest);
  };
  const refuse = (found: Errors): void => {
    setErrors(found);
    requestAnimationFrame(() => submitted.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  };
  return {
    values,
    errors,
    set,
    setErrors: refuse,
    bind: (field) => ({
      name: field,
      value: values[field] ?? '',
      onChange: (change) => set(field, change.currentTarget.value),
    }),
    onSubmit: (submit) => {
      submit.preventDefault();
      submitted.current = submit.currentTarget;
      const found = options.validate(values);
      if (Object.keys(found).length > 0) return refuse(found);
      setErrors({});
      options.onValid(values);
    },
    reset: () => {
      setValues(options.initial);
      setErrors({});
    },
  };
}
