import { queryPairs } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import type { KnownValues } from '../ui/query-completion.ts';

/** Number of requests whose values are suggested. */
const MAX_READ_ROWS = 200;

const COMMON_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The values that occur in the newest of these requests. Headers are in lower case. */
export function knownValuesOf(rows: readonly CapturedRequest[]): KnownValues {
  const read = rows.slice(0, MAX_READ_ROWS);
  const distinct = (values: Iterable<string>): string[] => [...new Set(values)].toSorted();
  return {
    methods: distinct([...COMMON_METHODS, ...read.map(({ method }) => method)]),
    sources: distinct(read.map(({ source }) => source)),
    events: distinct(read.flatMap(({ eventType }) => eventType ?? [])),
    headers: distinct(read.flatMap(({ rawHeaders }) => rawHeaders.map(([name]) => name.toLowerCase()))),
    parameters: distinct(read.flatMap((row) => queryPairs(row).map(([name]) => name))),
  };
}
