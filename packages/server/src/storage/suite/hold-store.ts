import { openSqliteStore } from '../sqlite/sqlite-store.ts';

/** A process that opens a data folder, says `open`, and keeps it until it is killed. */
await openSqliteStore(process.argv[2] ?? '');
process.stdout.write('open\n');
