import { z } from 'zod';

/** `[name, value]` pairs exactly as received: case, order and repeats. */
export const rawHeadersSchema = z.array(z.tuple([z.string(), z.string()]));
export type RawHeaders = z.infer<typeof rawHeadersSchema>;

/** Returns the pairs of a list of names and values in turn, as Node's HTTP modules have it. */
export function rawHeadersOf(flat: readonly string[]): RawHeaders {
  return Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at] ?? '', flat[2 * at + 1] ?? '']);
}

/** Returns the first value of a header. `name` is in lower case. */
export function firstHeader(rawHeaders: RawHeaders, name: string): string | undefined {
  return rawHeaders.find(([rawName]) => rawName.length === name.length && rawName.toLowerCase() === name)?.[1];
}
