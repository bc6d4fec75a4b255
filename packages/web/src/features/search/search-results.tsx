import { endpointTitle } from '@creel/contract';
import type { FoundRequest } from '@creel/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { errorMessage } from '../../api/client.ts';
import { endpointsQuery } from '../../api/queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { MethodBadge } from '../../ui/method-badge.tsx';
import { Notice } from '../../ui/notice.tsx';
import { formatSize } from '../../ui/sizes.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { formatMoment, shortAge, timeAgo } from '../../ui/times.ts';
import { useNow } from '../../ui/use-now.ts';
import { highlightParts } from './highlight.ts';
import { searchHit, searchedText } from './search-hits.ts';
import { searchQuery } from './search-query.ts';

interface HighlightedProps {
  readonly parts: readonly { readonly text: string; readonly hit: boolean }[];
}

/** A text with its matches highlighted. */
function Highlighted({ parts }: HighlightedProps) {
  let at = 0;
  return parts.map(({ text, hit }) => {
    const key = at;
    at += text.length;
    return hit ? <mark key={key}>{text}</mark> : <span key={key}>{text}</span>;
  });
}

/** Requests of all endpoints that match `q`, newest first, page by page. */
export function SearchResults({ q }: { readonly q: string }) {
  const results = useInfiniteQuery(searchQuery(q));
  const endpoints = useQuery(endpointsQuery);
  if (results.isPending) return <ResultsSkeleton />;
  if (results.data === undefined) {
    return <Notice tone="bad">{errorMessage(results.error, 'The search failed. Please try again.')}</Notice>;
  }
  const found = results.data.pages.flatMap((page) => page.found);
  if (found.length === 0 && !results.hasNextPage) {
    return (
      <EmptyState icon={<SearchX />} title="Nothing found">
        No stored request matches this query.
      </EmptyState>
    );
  }
  const text = searchedText(q);
  const nameOf = (uid: string): string =>
    endpointTitle(endpoints.data?.find((endpoint) => endpoint.uid === uid) ?? { uid, name: null });
  return (
    <div className="flex flex-col gap-3">
      <p role="status" className="text-ink-2">
        {found.length}
        {results.hasNextPage ? ' or more' : ''} {found.length === 1 ? 'request' : 'requests'}
      </p>
      <ul className="overflow-hidden rounded-lg border border-line bg-panel">
        {found.map((request) => (
          <li key={`${request.endpointUid}/${request.index}`} className="border-line not-first:border-t">
            <ResultRow request={request} q={text} endpointName={nameOf(request.endpointUid)} />
          </li>
        ))}
      </ul>
      {results.hasNextPage ? (
        <Button className="self-center" busy={results.isFetchingNextPage} onClick={() => void results.fetchNextPage()}>
          {results.isFetchingNextPage ? 'Loading…' : 'Show more'}
        </Button>
      ) : null}
    </div>
  );
}

interface ResultRowProps {
  readonly request: FoundRequest;
  readonly q: string;
  readonly endpointName: string;
}

function ResultRow({ request, q, endpointName }: ResultRowProps) {
  const now = useNow(10_000);
  const hit = q === '' ? undefined : searchHit(request, q);
  return (
    <Link
      to="/endpoints/$uid"
      params={{ uid: request.endpointUid }}
      search={{ request: request.index }}
      className="flex flex-col gap-1 px-4 py-2.5 outline-offset-[-2px] transition-colors duration-100 hover:bg-sunk"
    >
      <span className="flex min-w-0 items-center gap-3">
        <MethodBadge method={request.method} className="w-14 shrink-0 truncate" />
        <span className="min-w-0 truncate font-mono text-sm">
          <Highlighted parts={highlightParts(request.path, q)} />
        </span>
        {request.saved ? null : <Badge tone="warning">Unsaved</Badge>}
        <span className="ml-auto flex shrink-0 items-baseline gap-3 pl-3 text-sm text-ink-2">
          <span dir="auto" className="max-w-48 truncate max-sm:hidden">
            {endpointName}
          </span>
          <span className="max-sm:hidden">{formatSize(request.size)}</span>
          <time dateTime={request.timestamp} title={formatMoment(request.timestamp)}>
            <span className="max-lg:hidden">{timeAgo(request.timestamp, now)}</span>
            <span className="font-mono lg:hidden">{shortAge(request.timestamp, now)}</span>
          </time>
        </span>
      </span>
      {hit === undefined ? null : (
        <span className="flex min-w-0 gap-3 text-sm text-ink-2">
          <span className="w-14 shrink-0 text-xs leading-4">{hit.place}</span>
          <span className="min-w-0 truncate font-mono">
            <Highlighted parts={highlightParts(hit.text, q)} />
          </span>
        </span>
      )}
    </Link>
  );
}

function ResultsSkeleton() {
  return (
    <div role="status" aria-label="Searching" className="flex flex-col gap-2">
      <Skeleton className="h-14" />
      <Skeleton className="h-14" />
      <Skeleton className="h-14" />
    </div>
  );
}
