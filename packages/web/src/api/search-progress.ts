import { parseSearchPosition, SEARCHED_HEADER } from '@creel/contract';
import type { Answer, SearchPosition } from '@creel/contract';

/** What one call of a search covered. */
interface SearchedPart {
  /** Number of stored requests. */
  readonly searched: number;
  /** Where the next page starts; `undefined` when everything was searched. */
  readonly next: SearchPosition | undefined;
  /** `next` as the `before` parameter. */
  readonly before: string | undefined;
}

/** The `before` parameter of the next page; `undefined` after the last one. `next` is the URL of an answer's next page. */
export function nextBefore(next: string | undefined): string | undefined {
  if (next === undefined) return undefined;
  return new URL(next, location.origin).searchParams.get('before') ?? undefined;
}

/** Reads the progress of a search from the headers of its answer. */
export function searchProgress({ next, headers }: Pick<Answer<'search'>, 'next' | 'headers'>): SearchedPart {
  const before = nextBefore(next);
  return {
    searched: Number(headers.get(SEARCHED_HEADER) ?? 0),
    next: before === undefined ? undefined : parseSearchPosition(before),
    before,
  };
}
