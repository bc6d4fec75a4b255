import { FieldTable } from '../../../bodies/field-table.tsx';
import { parseForm } from '../../../bodies/form.ts';

/** The decoded fields of a form, and the text as sent. */
export function FormFields({ text }: { readonly text: string }) {
  return (
    <div className="min-h-0 grow overflow-auto border-t border-line">
      <FieldTable label="Form fields" nameTitle="Field" fields={parseForm(text) ?? []} />
      <h3 className="px-4 pt-4 pb-1 text-sm text-ink-2">As sent</h3>
      <pre className="px-4 pb-4 text-sm wrap-anywhere whitespace-pre-wrap">{text}</pre>
    </div>
  );
}
