import { useNavigate, useSearch } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/page.tsx';
import { SearchField } from './search-field.tsx';
import { SearchResults } from './search-results.tsx';

/** Search across all endpoints. */
export function SearchPage() {
  const { q = '' } = useSearch({ from: '/signed-in/search' });
  const navigate = useNavigate();
  return (
    <Page title="Search">
      <SearchField
        q={q}
        onSearch={(next) => void navigate({ to: '/search', search: next === '' ? {} : { q: next }, replace: true })}
      />
      {q === '' ? (
        <EmptyState icon={<Search />} title="Search your requests">
          Searches all saved and unsaved requests: method, path, query, headers and body.
        </EmptyState>
      ) : (
        <SearchResults q={q} />
      )}
    </Page>
  );
}
