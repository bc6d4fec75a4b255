import { parseQuery } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { endpointsQuery } from '../../api/queries.ts';
import { queryClient } from '../../api/query-client.ts';
import { knownValuesOf } from '../../api/request-filter.ts';
import { COMMAND_IDS } from '../../ui/commands.ts';
import { EmptyState } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import type { KnownValues } from '../../ui/query-completion.ts';
import { QueryField } from '../../ui/query-field.tsx';
import { SearchChips } from './search-chips.tsx';
import { searchQuery } from './search-query.ts';
import { SearchResults } from './search-results.tsx';

/** Search across all endpoints. */
export function SearchPage() {
  const { q = '', endpoint } = useSearch({ from: '/signed-in/search' });
  const navigate = useNavigate();
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const search = (next: { readonly q: string; readonly endpoint: string | undefined }): void =>
    void navigate({
      to: '/search',
      search: { q: next.q === '' ? undefined : next.q, endpoint: next.endpoint },
      replace: true,
    });
  const known = (): KnownValues => {
    const pages = queryClient.getQueryData(searchQuery(q, endpoint).queryKey)?.pages ?? [];
    const values = knownValuesOf(pages.flatMap((page) => page.found));
    const sources = [...values.sources, ...endpoints.flatMap(({ source }) => source ?? [])];
    return { ...values, sources: [...new Set(sources)].toSorted() };
  };
  return (
    <Page title="Search">
      <QueryField
        takesFocus
        label="Search requests"
        placeholder="Text, or method:POST, path:/orders, event:invoice.*…"
        query={q}
        onQuery={(next) => search({ q: next, endpoint })}
        known={known}
        command={{ id: COMMAND_IDS.search, title: 'Search', group: 'General', keys: '/' }}
      />
      <SearchChips
        q={q}
        onQuery={(next) => search({ q: next, endpoint })}
        endpoint={endpoint}
        endpoints={endpoints}
        onEndpoint={(uid) => search({ q, endpoint: uid })}
      />
      <Content q={q} endpoint={endpoint} />
    </Page>
  );
}

function Content({ q, endpoint }: { readonly q: string; readonly endpoint: string | undefined }) {
  if (q === '') {
    return (
      <EmptyState icon={<Search />} title="Search your requests">
        Searches all saved and unsaved requests: method, path, query, headers and body.
      </EmptyState>
    );
  }
  if (!parseQuery(q).ok)
    return <EmptyState title="This query has a mistake">Correct it in the field above.</EmptyState>;
  return <SearchResults q={q} endpoint={endpoint} />;
}
