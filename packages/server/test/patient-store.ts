import { QUERIES } from '../src/queries.ts';
import type { AppStore } from '../src/queries.ts';
import { openPostgresStore } from '../src/database/postgres/postgres-store.ts';
import { SESSIONS } from '../src/database/postgres/session.ts';

const WAIT_MS = 60_000;
const PATIENT = { statementMs: WAIT_MS, lockMs: WAIT_MS };

/**
 * Opens a store on PostgreSQL whose calls wait for a lock for up to a minute. By default it is 2 s, and a busy machine
 * could exceed them while a test holds the lock.
 */
export async function openPatientStore(url: string): Promise<AppStore> {
  const store = await openPostgresStore(url, QUERIES, {
    ...SESSIONS,
    capture: { ...SESSIONS.capture, ...PATIENT },
    read: { ...SESSIONS.read, ...PATIENT },
    write: { ...SESSIONS.write, ...PATIENT },
    unsynced: { ...SESSIONS.unsynced, ...PATIENT },
  });
  return {
    ...store,
    writeCaptures: (batch, limits, withinMs = WAIT_MS) => store.writeCaptures(batch, limits, withinMs),
  };
}
