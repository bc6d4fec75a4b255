import { useId } from 'react';
import { Switch } from '../../ui/field.tsx';
import type { ReplayDraft, ReplayForm } from './replay-form.ts';

interface SignAgainProps {
  readonly form: ReplayForm;
  readonly error: string | undefined;
  readonly onChange: (part: ReplayDraft) => void;
}

/** Renews the signature of the replay. */
export function SignAgain({ form, error, onChange }: SignAgainProps) {
  const id = useId();
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-2 px-4 pb-3">
      <Switch
        id={id}
        checked={form.sign}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={`${id}-hint`}
        onCheckedChange={(isOn) => onChange({ sign: isOn ? true : undefined })}
      />
      <label htmlFor={id} className="font-medium">
        Sign again
      </label>
      <span id={`${id}-hint`} className="text-sm text-ink-2">
        A new signature of what is sent, with the current time.
      </span>
      <p role="alert" className="basis-full text-sm text-bad empty:hidden">
        {error}
      </p>
    </div>
  );
}
