import type { CapturedRequest } from '@creel/contract';
import { FieldTable } from './field-table.tsx';

/** The query parameters, decoded; a name that occurs more than once has a line for each value. */
export function QueryTab({ query }: { readonly query: CapturedRequest['queryParams'] }) {
  const fields = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  if (fields.length === 0) return <p className="p-4 text-ink-2">This request has no query parameters.</p>;
  return <FieldTable label="Query parameters" nameTitle="Parameter" fields={fields} />;
}
