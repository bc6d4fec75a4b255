import { sql } from 'kysely';
import type { Expression, SqlBool } from 'kysely';
import { decodeHead } from '../request-head.ts';
import { requestKey } from '../request-key.ts';
import type { FoundRecord, RequestRecord, RequestStore, SearchQuery } from '../store.ts';
import { asciiLower, headMatches, headSieve, methodsWith } from './search-text.ts';
import { selectRequest, toRequestRecord } from './request-queries.ts';
import type { EngineDatabase, Unbound } from './unbound.ts';

interface SearchedEndpoint {
  readonly id: number;
  readonly uid: string;
  readonly first_index: number;
  readonly next_index: number;
}

/**
 * Each endpoint is read newest first until it has given a page; the pages are merged. An index of every captured byte would make
 * each capture dearer, so the table is scanned: in storage, where a byte costs least, and away from the writer.
 */
async function searchRequests(db: EngineDatabase, query: SearchQuery): Promise<FoundRecord[]> {
  const endpoints = await db
    .selectFrom('endpoints')
    .select(['id', 'uid', 'first_index', 'next_index'])
    .where('user_id', '=', query.userId)
    .where('latest_at', 'is not', null)
    // What is newest fills the page, and the page's last time then spares the endpoints that follow.
    .orderBy('latest_at', 'desc')
    .execute();
  let page: FoundRecord[] = [];
  for (const endpoint of endpoints) {
    const since = page.length === query.limit ? page.at(-1)?.receivedAt : undefined;
    const records = await searchEndpoint(db, endpoint, query, since);
    const found = records.map((record) => ({ ...record, endpointUid: endpoint.uid }));
    page = [...page, ...found].toSorted(newestFirst).slice(0, query.limit);
  }
  return page;
}

function newestFirst(a: RequestRecord, b: RequestRecord): number {
  return b.receivedAt - a.receivedAt || b.endpointId - a.endpointId || b.index - a.index;
}

async function searchEndpoint(
  db: EngineDatabase,
  endpoint: SearchedEndpoint,
  query: SearchQuery,
  since: number | undefined,
): Promise<RequestRecord[]> {
  const found: RequestRecord[] = [];
  let below = endpoint.next_index;
  while (found.length < query.limit) {
    const candidates = await candidatesBelow(db, endpoint, below, query, since);
    for (const { inBody, record } of candidates)
      if (inBody || headMatches(record.method, decodeHead(record.head), query.text)) found.push(record);
    const last = candidates.at(-1);
    if (last === undefined || candidates.length < query.limit) break;
    below = last.record.index;
  }
  return found.slice(0, query.limit);
}

interface Candidate {
  readonly record: RequestRecord;
  readonly inBody: boolean;
}

/** Rows whose bytes hold the text somewhere. A hit in the body is one; a hit in the head is looked at again, in its parts. */
async function candidatesBelow(
  db: EngineDatabase,
  endpoint: SearchedEndpoint,
  below: number,
  query: SearchQuery,
  since: number | undefined,
): Promise<Candidate[]> {
  const { engine } = db;
  const [head, body] = [sql.ref<Uint8Array>('head'), sql.ref<Uint8Array | null>('body')];
  const needle = Buffer.from(asciiLower(query.text), 'utf8');
  const conditions: Expression<SqlBool>[] = [engine.mayContain(body, needle, head, headSieve(query.text))];
  const methods = methodsWith(query.text);
  if (methods.length > 0) conditions.push(sql<SqlBool>`method in (${sql.join(methods)})`);
  let rows = selectRequest(db.selectFrom('captured_requests'), query.bodyBytes)
    .select(sql<number>`case when ${engine.contains(body, needle)} then 1 else 0 end`.as('in_body'))
    .where('key', '>=', requestKey(endpoint.id, endpoint.first_index))
    .where('key', '<', requestKey(endpoint.id, below));
  if (query.before !== undefined) rows = rows.where(olderThan(endpoint.id, query.before));
  if (since !== undefined) rows = rows.where('received_at', '>=', since);
  rows = rows
    .where((where) => where.or(conditions))
    .orderBy('key', 'desc')
    .limit(query.limit);
  return (await rows.execute()).map((row) => ({
    inBody: row.in_body === 1,
    record: toRequestRecord(endpoint.id, row),
  }));
}

/** The cursor in the order of `newestFirst`. */
function olderThan(endpointId: number, before: NonNullable<SearchQuery['before']>): Expression<SqlBool> {
  if (endpointId < before.endpointId) return sql<SqlBool>`received_at <= ${before.receivedAt}`;
  if (endpointId > before.endpointId) return sql<SqlBool>`received_at < ${before.receivedAt}`;
  return sql<SqlBool>`received_at <= ${before.receivedAt} and key < ${requestKey(endpointId, before.index)}`;
}

export const searchReads = { searchRequests } satisfies Unbound<Pick<RequestStore, 'searchRequests'>>;
