import { parseQuery, endpointTitle, printQuery } from '@creel/contract';
import type { Endpoint, Query, Term } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Search, ChevronDown } from 'lucide-react';
import { endpointsQuery } from '../../api/queries.ts';
import { queryClient } from '../../api/query-client.ts';
import { knownValuesOf } from '../../ui/query-completion.ts';
import { COMMAND_IDS } from '../../ui/commands.ts';
import { EmptyState } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import type { KnownValues } from '../../ui/query-completion.ts';
import { QueryField } from '../../ui/query-field.tsx';
import { searchQuery, SearchResults } from './search-results.tsx';
import type { SearchInput } from './search-results.tsx';

/** Search across all endpoints. */
export function SearchPage() {
  const { q = '', endpoint } = useSearch({ from: '/signed-in/search' });
  const navigate = useNavigate();
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const search = (next: SearchInput): void =>
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
        placeholder="Text, or method:POST path:/orders…"
        query={q}
        onQuery={(next) => search({ q: next, endpoint })}
        known={known}
        command={{ id: COMMAND_IDS.search, title: 'Search', group: 'General', keys: '/' }}
        // The line for notes below the field is also the space before the chips.
        className="-mb-3"
      />
      <SearchChips q={q} endpoint={endpoint} endpoints={endpoints} onSearch={search} />
      <Content q={q} endpoint={endpoint} />
    </Page>
  );
}

function Content({ q, endpoint }: SearchInput) {
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

interface Choice {
  /** Empty for no restriction. */
  readonly value: string;
  readonly label: string;
}

const METHODS: readonly Choice[] = [
  { value: '', label: 'Any method' },
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((value) => ({ value, label: value })),
];

const TIMES: readonly Choice[] = [
  { value: '', label: 'Any time' },
  { value: '-15m', label: 'Last 15 minutes' },
  { value: '-1h', label: 'Last hour' },
  { value: '-1d', label: 'Last 24 hours' },
  { value: '-1w', label: 'Last 7 days' },
];

interface SearchChipsProps extends SearchInput {
  readonly endpoints: readonly Endpoint[];
  readonly onSearch: (next: SearchInput) => void;
}

/** Restricts a search to an endpoint, a method or a time. Method and time are terms of the query. */
function SearchChips({ q, endpoint, endpoints, onSearch }: SearchChipsProps) {
  const named = endpoints.map((one) => ({ value: one.uid, label: endpointTitle(one) }));
  return (
    <div role="group" aria-label="Restrict the search" className="flex flex-wrap gap-2">
      <Chip
        label="Endpoint"
        value={endpoint ?? ''}
        choices={[{ value: '', label: 'All endpoints' }, ...named]}
        onChoose={(uid) => onSearch({ q, endpoint: uid === '' ? undefined : uid })}
        // The names, which are loaded later, would widen it.
        className="w-44"
      />
      <Chip
        label="Method"
        value={valueOf(q, 'method')}
        choices={METHODS}
        onChoose={(method) => onSearch({ q: withValue(q, 'method', method), endpoint })}
      />
      <Chip
        label="Time"
        value={valueOf(q, 'after')}
        choices={TIMES}
        onChoose={(time) => onSearch({ q: withValue(q, 'after', time), endpoint })}
      />
    </div>
  );
}

interface ChipProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChoose: (value: string) => void;
  readonly className?: string;
}

/** A native select. A value that was typed into the query is one more choice. */
function Chip({ label, value, choices, onChoose, className = 'max-w-64' }: ChipProps) {
  const isKnown = choices.some((choice) => choice.value === value);
  const offered = isKnown ? choices : [...choices, { value, label: value }];
  return (
    <span className="relative inline-flex max-w-full">
      <select
        aria-label={label}
        value={value}
        onChange={(change) => onChoose(change.target.value)}
        className={clsx(
          className,
          'h-7 cursor-pointer appearance-none truncate rounded-full border pr-7 pl-3 text-sm pointer-coarse:h-11',
          value === ''
            ? 'border-line-strong bg-panel text-ink-2 hover:border-ink-3'
            : 'border-accent bg-accent-soft font-medium text-ink',
        )}
      >
        {offered.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <ChevronDown
        aria-hidden
        className="pointer-events-none absolute top-1/2 right-2.5 size-3.5 -translate-y-1/2 text-ink-2"
      />
    </span>
  );
}

/** The terms that apply to the whole query, and groups. `undefined` for a query with a mistake. */
function partsOf(text: string): readonly Query[] | undefined {
  const parsed = parseQuery(text);
  if (!parsed.ok) return undefined;
  return parsed.query.kind === 'and' ? parsed.query.parts : [parsed.query];
}

/** The values of the terms of a kind, as in the query: 'GET,POST'. Empty if there is no such term. */
export function valueOf(text: string, kind: Term['kind']): string {
  const terms = partsOf(text)?.filter((part) => part.kind === kind) ?? [];
  return terms.map((term) => printQuery(term).replace(`${kind}:`, '')).join(' ');
}

/** Replaces all terms of a kind by one, or removes them. A query with a mistake does not change. */
export function withValue(text: string, kind: Term['kind'], value: string): string {
  const parts = partsOf(text);
  if (parts === undefined) return text;
  const others = parts.filter((part) => part.kind !== kind);
  const added = value === '' ? [] : (partsOf(`${kind}:${value}`) ?? []);
  return printQuery({ kind: 'and', parts: [...others, ...added] });
}
