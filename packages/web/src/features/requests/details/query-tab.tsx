import { queryOf, queryPairs } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { FieldTable } from '../../../bodies/field-table.tsx';
import { CopyButton } from '../../../ui/copy.tsx';

/** The query string as sent, and its decoded parameters in order. Each value of a repeated name has its own row. */
export function QueryTab({ request }: { readonly request: CapturedRequest }) {
  const query = queryOf(request);
  const fields = queryPairs(request);
  if (query === '') return <p className="p-4 text-ink-2">This request has no query parameters.</p>;
  return (
    <>
      <div className="group relative border-b border-line bg-sunk px-4 py-1.5 pr-10 font-mono text-sm break-all">
        <span className="sr-only">As sent: </span>
        {query}
        <CopyButton
          text={query}
          label="Copy the query as sent"
          className="absolute top-0.5 right-2 opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
        />
      </div>
      {fields.length === 0 ? (
        <p className="p-4 text-ink-2">The query string is empty.</p>
      ) : (
        <FieldTable label="Query parameters" nameTitle="Parameter" fields={fields} />
      )}
    </>
  );
}
