import { setTimeout as sleep } from 'node:timers/promises';
import { openWriterConnection } from '../src/database/sqlite/open-database.ts';

/** A process that claims a data folder, prints `open`, and keeps it until it is killed. */
const { release } = await openWriterConnection(process.argv[2] ?? '');
process.stdout.write('open\n');
await sleep(60_000);
// Used here, because a lock that nothing refers to is collected and released.
release();
