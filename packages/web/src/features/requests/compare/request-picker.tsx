import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, errorMessage } from '../../../api/client.ts';
import { queryKeys } from '../../../api/query-client.ts';
import { knownValuesOf } from '../../../ui/query-completion.ts';
import { labelOf } from '../../../api/request-list.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { readList } from '../../../api/list-cache.ts';
import { readable } from '../../../bodies/encoding.ts';
import { MethodBadge, RequestNumber } from '../../../ui/badges.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { formatMoment } from '../../../ui/format.ts';
import { QueryField } from '../../../ui/query-field.tsx';

/** Number of requests to choose from. */
const MAX_CHOICES = 30;

interface RequestPickerProps {
  readonly uid: string;
  readonly title: string;
  readonly onChoose: (index: number) => void;
  readonly onClose: () => void;
}

/** Chooses any request of an endpoint: the newest ones, or those that match a query. */
export function RequestPicker({ uid, title, onChoose, onClose }: RequestPickerProps) {
  const [query, setQuery] = useState('');
  const found = useQuery({
    queryKey: queryKeys.picker(uid, query),
    queryFn: async ({ signal }): Promise<readonly ListedRequest[]> => {
      if (query === '') return readList(uid).rows.slice(0, MAX_CHOICES);
      return client.call('search', { query: { q: query, endpoint: uid, limit: MAX_CHOICES } }, signal);
    },
    placeholderData: (before) => before,
    gcTime: 0,
  });
  return (
    <Dialog onClose={onClose} width="md" title={title}>
      <QueryField
        label="Find a request"
        placeholder="Text, or method:POST path:/orders…"
        query={query}
        onQuery={setQuery}
        known={() => knownValuesOf(readList(uid).rows)}
        command={{ id: 'picker.find', title: 'Find a request', group: 'Request', inPalette: false }}
      />
      {found.isError ? (
        <Notice tone="bad" className="mt-3">
          {errorMessage(found.error, 'The search failed. Please try again.')}
        </Notice>
      ) : null}
      <ul aria-label="Requests" aria-busy={found.isFetching} className="mt-3 max-h-[50vh] overflow-y-auto">
        {found.data?.map((request) => (
          <li key={request.index}>
            <Choice request={request} onChoose={onChoose} />
          </li>
        ))}
      </ul>
      {found.data?.length === 0 && !found.isFetching ? <p className="py-3 text-ink-2">No request matches.</p> : null}
    </Dialog>
  );
}

function Choice({ request, onChoose }: { readonly request: ListedRequest } & Pick<RequestPickerProps, 'onChoose'>) {
  return (
    <button
      type="button"
      onClick={() => onChoose(request.index)}
      className="flex min-h-8 w-full items-center gap-3 rounded-md px-2 text-left hover:bg-sunk focus-visible:bg-selected pointer-coarse:min-h-11"
    >
      <MethodBadge method={request.method} className="min-w-14 shrink-0" />
      <span className="min-w-0 truncate font-mono text-sm">{readable(request.path)}</span>
      {/* Shrinks to nothing before the path is cut. */}
      <span className="min-w-0 shrink-[9999] truncate font-mono text-sm text-ink-2">{labelOf(request).event}</span>
      <span className="ml-auto flex shrink-0 gap-3 text-sm text-ink-2">
        <RequestNumber index={request.index} />
        <time dateTime={request.timestamp} className="max-sm:hidden">
          {formatMoment(request.timestamp)}
        </time>
      </span>
    </button>
  );
}
