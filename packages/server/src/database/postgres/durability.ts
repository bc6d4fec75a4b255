import type { ClientBase } from 'pg';
import { StorageProblem } from '../storage-problem.ts';

/** Server settings that decide durability, as PostgreSQL spells them. */
export interface ServerPromises {
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly server_encoding: string;
  readonly server_version_num: string;
  readonly in_recovery: boolean;
}

const PROMISES = `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
  current_setting('synchronous_commit') as synchronous_commit, current_setting('server_encoding') as server_encoding,
  current_setting('server_version_num') as server_version_num, pg_is_in_recovery() as in_recovery`;

const OLDEST_VERSION = 140_000;
const WAITS_FOR_DISK: readonly string[] = ['on', 'local', 'remote_write', 'remote_apply'];

/**
 * Ensures that commits of this session survive a power cut, and pins the settings for the session. Called for each
 * capture session and each readiness check, because an operator may change the settings at any time. @throws
 * StorageProblem with a sentence for the operator.
 */
export async function assertDurable(client: ClientBase): Promise<void> {
  const { rows } = await client.query<ServerPromises>(PROMISES);
  const promises = rows[0];
  if (promises === undefined) throw new Error('PostgreSQL gave no settings.');
  const problem = durabilityProblem(promises);
  if (problem !== undefined) throw new StorageProblem(problem);
  await client.query(`select set_config('synchronous_commit', $1, false)`, [promises.synchronous_commit]);
}

/** Why captures can't be stored durably, as a sentence for the operator. */
export function durabilityProblem(promises: ServerPromises): string | undefined {
  const lossy = (setting: string, value: string): string =>
    `PostgreSQL runs with ${setting}=${value}: a power cut could lose requests that were acknowledged. Set ${setting} to on.`;
  if (promises.fsync !== 'on') return lossy('fsync', promises.fsync);
  if (promises.full_page_writes !== 'on') return lossy('full_page_writes', promises.full_page_writes);
  if (!WAITS_FOR_DISK.includes(promises.synchronous_commit))
    return lossy('synchronous_commit', promises.synchronous_commit);
  if (promises.server_encoding !== 'UTF8')
    return `The PostgreSQL database has the encoding ${promises.server_encoding}. Create one with UTF8.`;
  if (Number(promises.server_version_num) < OLDEST_VERSION)
    return 'PostgreSQL is older than version 14. Use a newer one.';
  if (promises.in_recovery)
    return 'PostgreSQL at this address is a standby and takes no writes. Set DATABASE_URL to the primary.';
  return undefined;
}
