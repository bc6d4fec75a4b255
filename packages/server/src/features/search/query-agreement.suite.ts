import { eventType, matcherOf, parseQuery, sourceLabel } from '@creel/contract';
import type { Query, SearchableRequest } from '@creel/contract';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Generator } from '../../../../../fixtures/generated-queries.ts';
import type { GeneratedRequest } from '../../../../../fixtures/generated-queries.ts';
import { searchRequests } from './service.ts';
import { labelText } from '../../database/stored-request.ts';
import type { AppStore } from '../../queries.ts';
import { LIMITS, T0, capture, someEndpoint } from '../../../test/store-world.ts';

/** `QUERY_CASES=10000 QUERY_REQUESTS=2000` runs the full number, for minutes. */
const QUERIES = Number(process.env['QUERY_CASES'] ?? 100);
const REQUESTS = Number(process.env['QUERY_REQUESTS'] ?? 200);
const SEED = Number(process.env['QUERY_SEED'] ?? 1);
const NOW = T0 + 2_000_000;

/** The searched fields of a generated request, made without the server's own decoding. */
function searchable(request: GeneratedRequest, saved: boolean): SearchableRequest {
  const { method, target, headers, body, sourceIp, at } = request;
  const rawHeaders = headers.flatMap((name, nth): [string, string][] =>
    nth % 2 === 0 ? [[name, headers[nth + 1] ?? '']] : [],
  );
  const text = labelText(true, body);
  return {
    method,
    target,
    rawHeaders,
    body: () => decoded(body, rawHeaders.find(([name]) => name === 'Content-Encoding')?.[1]),
    size: body?.length ?? 0,
    source: () => sourceLabel(rawHeaders, text),
    eventType: () => eventType(rawHeaders, text),
    sourceIp,
    receivedAt: at,
    saved,
  };
}

function decoded(body: Buffer | null, coding: string | undefined): Uint8Array | null {
  if (body === null) return null;
  try {
    if (coding?.toLowerCase() === 'gzip') return gunzipSync(body);
    return coding === 'br' ? brotliDecompressSync(body) : body;
  } catch {
    return body;
  }
}

function read(text: string): Query {
  const result = parseQuery(text);
  if (!result.ok) throw new Error(`${text} at ${result.position}: ${result.sentence}`);
  return result.query;
}

/** The database finds exactly what `matcherOf` accepts. */
export function queryAgreementSuite(store: AppStore): void {
  describe('queries', () => {
    test(
      `${QUERIES} generated queries find in ${REQUESTS} generated requests what the matcher takes`,
      async () => {
        const generator = new Generator(SEED, T0);
        const requests = Array.from({ length: REQUESTS }, (_, index) => generator.request(index));
        const { id, userId } = await someEndpoint(store);
        for (let from = 0; from < REQUESTS; from += 100)
          await capture(
            store,
            requests.slice(from, from + 100).map((request) => ({ to: id, ...request })),
            { ...LIMITS, maxUnsaved: REQUESTS },
          );
        const isSaved = (index: number): boolean => index % 7 === 0;
        for (let index = 0; index < REQUESTS; index += 7)
          await store.saveRequest(id, index, { maxSaved: REQUESTS, bodyBytes: 0 });
        const views = requests.map((request, index) => searchable(request, isSaved(index)));
        let hits = 0;
        for (let nth = 0; nth < QUERIES; nth += 1) {
          const text = generator.query();
          const query = read(text);
          const matches = matcherOf(query, NOW);
          const wanted = views.flatMap((view, index) => (matches(view) ? [index] : [])).toReversed();
          const page = await searchRequests(
            store,
            {
              userId,
              query,
              limit: REQUESTS,
              maxRows: REQUESTS,
              maxMs: Infinity,
              signal: new AbortController().signal,
            },
            NOW,
          );
          hits += wanted.length;
          const found = page.found.map(({ index }) => index);
          const missing = wanted.filter((index) => !found.includes(index));
          const extra = found.filter((index) => !wanted.includes(index));
          expect({ text, missing, extra }).toEqual({ text, missing: [], extra: [] });
        }
        // Queries that find nothing, or everything, would prove little.
        expect(hits / (QUERIES * REQUESTS)).toBeGreaterThan(0.05);
        expect(hits / (QUERIES * REQUESTS)).toBeLessThan(0.8);
      },
      60 * 60_000,
    );
  });
}
