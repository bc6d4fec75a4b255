import type { RawHeaders } from '@creel/contract';
import { readable } from '../../../bodies/encoding.ts';
import { FieldTable } from '../../../bodies/field-table.tsx';

/** The headers as received, with their case, order and repeats. */
export function HeadersTab({ headers, find }: { readonly headers: RawHeaders; readonly find: string | undefined }) {
  const wanted = find?.toLowerCase() ?? '';
  const fields = headers
    .map(([name, value]): [string, string] => [name, readable(value)])
    .filter((field) => wanted === '' || field.join(': ').toLowerCase().includes(wanted));
  if (headers.length === 0) return <p className="p-4 text-ink-2">This request has no headers.</p>;
  if (fields.length === 0) return <p className="p-4 text-ink-2">No header contains this text.</p>;
  return <FieldTable label="Headers" nameTitle="Header" fields={fields} />;
}
