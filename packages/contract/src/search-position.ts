import { z } from 'zod';

/** Response header of a search with the number of stored requests that it examined. */
export const SEARCHED_HEADER = 'x-creel-searched';

/** A place in the results of a search, which are ordered by time, endpoint and index, descending. The next page has what is older. */
export interface SearchPosition {
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly endpointId: number;
  readonly index: number;
}

const SENTENCE = 'before must come from a Link header';

/** `?before=` of a search. Outside of this repository it is opaque. */
export const searchPositionSchema = z.string(SENTENCE).regex(/^\d{1,16}-\d{1,16}-\d{1,16}$/, SENTENCE);

/** Prints a position as `parseSearchPosition` reads it. */
export function printSearchPosition({ receivedAt, endpointId, index }: SearchPosition): string {
  return `${receivedAt}-${endpointId}-${index}`;
}

/** Parses a text that `searchPositionSchema` accepts. */
export function parseSearchPosition(text: string): SearchPosition {
  const [receivedAt = 0, endpointId = 0, index = 0] = text.split('-').map(Number);
  return { receivedAt, endpointId, index };
}

/** The place right above the request of an endpoint with this index, for a search of this endpoint only. */
export function positionBefore(endpointId: number, index: number): string {
  return printSearchPosition({ receivedAt: Number.MAX_SAFE_INTEGER, endpointId, index });
}
