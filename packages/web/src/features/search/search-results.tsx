import { endpointTitle } from '@creel/contract';
import type { FoundRequest } from '@creel/contract';
import { infiniteQueryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { useEffect } from 'react';
import { client, failureOf } from '../../api/client.ts';
import { endpointsQuery } from '../../api/queries.ts';
import { queryKeys } from '../../api/query-client.ts';
import { searchProgress } from '../../api/request-queries.ts';
import { MarkedText } from '../../bodies/marked-text.tsx';
import { Badge, MethodBadge } from '../../ui/badges.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState, Loading, Notice } from '../../ui/feedback.tsx';
import { formatSize, formatMoment, shortAge, timeAgo } from '../../ui/format.ts';
import { MatchCount } from '../../ui/progress.tsx';
import { useNow } from '../../ui/state.ts';
import { hitsIn, searchHit, searchedText } from './search-hits.ts';

/** Number of results in a page. */
const SEARCH_PAGE = 50;

/** Number of stored requests that the first call examines, so that the first results appear at once. */
const FIRST_SCAN = 2000;

/** The user's requests that match `q`, of one endpoint or of all, page by page. */
export const searchQuery = (q: string, endpoint: string | undefined) =>
  infiniteQueryOptions({
    queryKey: queryKeys.search(q, endpoint),
    queryFn: async ({ pageParam, signal }) => {
      const scan = pageParam === undefined ? FIRST_SCAN : undefined;
      const query = { q, endpoint, limit: SEARCH_PAGE, scan, before: pageParam };
      const answer = await client.callWithHeaders('search', { query }, signal);
      return { found: answer.data, searched: searchProgress(answer).searched, before: answer.nextBefore };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.before,
    staleTime: 0,
  });

const SEARCHING = <Loading label="Searching" bars={['h-14', 'h-14', 'h-14']} />;

/** What is searched for, and where. */
export interface SearchInput {
  readonly q: string;
  /** The uid of the only endpoint that is searched. */
  readonly endpoint: string | undefined;
}

/** Requests that match `q`, newest first, page by page. A call that finds few is followed by the next one at once. */
export function SearchResults({ q, endpoint }: SearchInput) {
  const results = useInfiniteQuery(searchQuery(q, endpoint));
  const { hasNextPage, isFetching, isError, fetchNextPage } = results;
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const pages = results.data?.pages ?? [];
  const found = pages.flatMap((page) => page.found);
  const goesOn = hasNextPage && !isFetching && !isError && found.length < SEARCH_PAGE;
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  if (results.data === undefined) {
    if (!isError) return SEARCHING;
    return <Notice tone="bad" {...failureOf(results, 'The search failed.')} />;
  }
  const isComplete = !hasNextPage && !isFetching;
  if (found.length === 0 && isComplete) {
    return (
      <EmptyState icon={<SearchX />} title="Nothing found">
        No stored request matches this query. Try fewer terms, or a longer time.
      </EmptyState>
    );
  }
  const searchedEndpoints = endpoints.filter(({ uid }) => endpoint === undefined || uid === endpoint);
  const text = searchedText(q);
  const nameOf = (uid: string): string =>
    endpointTitle(endpoints.find((one) => one.uid === uid) ?? { uid, name: null });
  const paused = isFetching || goesOn ? 'searching' : 'paused';
  return (
    <div className="@container flex flex-col gap-3">
      <MatchCount
        matches={found.length}
        searched={pages.reduce((sum, page) => sum + page.searched, 0)}
        total={searchedEndpoints.reduce((sum, one) => sum + one.requestCount, 0)}
        progress={isError ? 'failed' : isComplete ? 'complete' : paused}
        onRetry={() => void fetchNextPage()}
        className="text-ink-2"
      />
      {found.length === 0 ? (
        SEARCHING
      ) : (
        <ul className="overflow-hidden rounded-lg border border-line bg-panel">
          {found.map((request) => (
            <li key={`${request.endpointUid}/${request.index}`} className="border-line not-first:border-t">
              <ResultRow request={request} q={text} endpointName={nameOf(request.endpointUid)} />
            </li>
          ))}
        </ul>
      )}
      {hasNextPage && found.length > 0 ? (
        <Button className="self-center" busy={isFetching} onClick={() => void fetchNextPage()}>
          {isFetching ? 'Loading…' : 'Show more'}
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
      <span className="flex min-w-0 items-center gap-x-3 @max-2xl:flex-wrap">
        <MethodBadge method={request.method} className="min-w-14 shrink-0" />
        <span className="min-w-0 truncate font-mono text-sm @max-2xl:max-w-max @max-2xl:grow @max-2xl:basis-0">
          <MarkedText text={request.path} found={hitsIn(request.path, q)} />
        </span>
        {request.eventType === null ? null : (
          <span className="min-w-0 shrink-[9] truncate font-mono text-sm text-ink-3 @max-2xl:order-3 @max-2xl:max-w-1/2 @max-md:hidden">
            {request.eventType}
          </span>
        )}
        {request.saved ? null : <Badge tone="warning">Unsaved</Badge>}
        <span className="ml-auto flex shrink-0 items-baseline gap-3 pl-3 text-sm text-ink-2 @max-2xl:contents">
          {/* In a narrow list the name, the event type and the size have the line below. */}
          <span className="order-1 basis-full @2xl:hidden" />
          <span
            dir="auto"
            className="max-w-48 truncate text-left @max-2xl:order-2 @max-2xl:max-w-none @max-2xl:grow @max-2xl:basis-0 @max-2xl:pl-17"
          >
            {endpointName}
          </span>
          <span className="@max-2xl:order-4 @max-md:hidden">{formatSize(request.size)}</span>
          <time dateTime={request.timestamp} title={formatMoment(request.timestamp)} className="@max-2xl:ml-auto">
            <span className="@max-2xl:hidden">{timeAgo(request.timestamp, now)}</span>
            <span className="font-mono @2xl:hidden">{shortAge(request.timestamp, now)}</span>
          </time>
        </span>
      </span>
      {hit === undefined ? null : (
        <span className="flex min-w-0 gap-3 text-sm text-ink-2">
          <span className="w-14 shrink-0 text-xs leading-4">{hit.place}</span>
          <span className="min-w-0 truncate font-mono">
            <MarkedText text={hit.text} found={hitsIn(hit.text, q)} />
          </span>
        </span>
      )}
    </Link>
  );
}
