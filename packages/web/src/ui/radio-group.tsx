import { clsx } from 'clsx';
import { useId } from 'react';
import type { ReactNode } from 'react';

interface RadioGroupProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: ReactNode; readonly icon?: ReactNode }[];
  readonly onChange: (value: Value) => void;
  readonly className: string;
  readonly optionClassName: string;
}

/** Radio buttons that look like a row of buttons. The native ones select by an arrow key however short it is pressed. */
export function RadioGroup<Value extends string>(props: RadioGroupProps<Value>) {
  const { label, value, options, onChange, className, optionClassName } = props;
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label} className={className}>
      {options.map((option) => (
        <label
          key={option.value}
          className={clsx(
            'relative flex items-center font-medium transition-colors duration-100',
            'has-checked:bg-accent-soft has-checked:text-accent',
            optionClassName,
          )}
        >
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="absolute inset-0 appearance-none rounded-[inherit]"
          />
          {option.icon}
          {option.label}
        </label>
      ))}
    </div>
  );
}
