import { read } from '../../database/remote.ts';
import type { EngineDatabase } from '../../database/remote.ts';
import { toEndpointRecord } from '../../database/records.ts';
import type { EndpointRecord } from '../../database/records.ts';

/** Which of these sessions are open and which endpoints exist. One call for all live connections of a node. */
async function readWatched(
  db: EngineDatabase,
  sessionIds: readonly string[],
  endpointIds: readonly number[],
  now: number,
): Promise<{ openSessions: readonly string[]; endpoints: readonly EndpointRecord[] }> {
  if (sessionIds.length === 0 || endpointIds.length === 0) return { openSessions: [], endpoints: [] };
  const sessions = await db
    .selectFrom('sessions')
    .select('id')
    .where('id', 'in', sessionIds)
    .where('expires_at', '>', now)
    .execute();
  const endpoints = await db.selectFrom('endpoints').selectAll().where('id', 'in', endpointIds).execute();
  return { openSessions: sessions.map(({ id }) => id), endpoints: endpoints.map(toEndpointRecord) };
}

export const liveQueries = { readWatched: read(readWatched) };
