import { parseSearchPosition, SEARCHED_HEADER } from '@creel/contract';
import type { Answer, SearchPosition } from '@creel/contract';

/** What one call of a search covered. */
export interface SearchedPart {
  /** Number of stored requests. */
  readonly searched: number;
  /** Where the next page starts; `undefined` when everything was searched. */
  readonly next: SearchPosition | undefined;
  /** `next` as the `before` parameter. */
  readonly before: string | undefined;
}

/** Reads the progress of a search from the headers of its answer. */
export function searchProgress({ next, headers }: Pick<Answer<'search'>, 'next' | 'headers'>): SearchedPart {
  const before = next === undefined ? undefined : new URL(next, location.origin).searchParams.get('before');
  return {
    searched: Number(headers.get(SEARCHED_HEADER) ?? 0),
    next: typeof before === 'string' ? parseSearchPosition(before) : undefined,
    before: before ?? undefined,
  };
}
