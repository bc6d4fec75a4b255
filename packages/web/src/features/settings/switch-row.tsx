import { useId } from 'react';
import type { ReactNode } from 'react';
import { Switch } from '../../ui/switch.tsx';

export interface SwitchRowProps {
  readonly label: string;
  readonly description: ReactNode;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onCheckedChange: (isOn: boolean) => void;
}

/** A switch with a title and a description. */
export function SwitchRow({ label, description, checked, disabled = false, onCheckedChange }: SwitchRowProps) {
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
      </div>
      <Switch
        id={id}
        aria-describedby={`${id}-about`}
        checked={checked}
        disabled={disabled}
        onCheckedChange={onCheckedChange}
        className="mt-1"
      />
    </div>
  );
}
