import { tierSchema } from '@creel/contract';
import { AdminProblem } from './admin-problem.ts';
import { importSqlite } from './import-sqlite.ts';
import { listUsers, readStats, setPlan, vacuumPostgres } from './queries.ts';
import { backup, restore, vacuumFile, verify, expectDatabase } from './sqlite-files.ts';
import { DatabaseSync } from 'node:sqlite';
import { openDatabase as openPostgres, SESSIONS } from '../database/postgres/session.ts';
import { startProblem } from '../database/postgres/faults.ts';
import type { Database } from '../database/schema.ts';
import { sqliteDatabase } from '../database/sqlite/engine.ts';
import { databaseFile } from '../database/sqlite/open-database.ts';

/** Where the data is. `databaseUrl` is set for PostgreSQL. */
export interface AdminConfig {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
}

interface AdminCommand {
  /** The args after `creel admin`. */
  readonly usage: string;
  readonly summary: string;
  run(args: readonly string[], config: AdminConfig, print: (line: string) => void): Promise<void>;
}

/** Commands of `creel admin`: docs/operations.md, "Administration". */
const COMMANDS: Readonly<Record<string, AdminCommand>> = {
  backup: {
    usage: 'backup FILE',
    summary: 'copy the SQLite database to FILE, also while the server runs',
    async run(args, config, print) {
      const [file] = expectArgs(args, 1, this.usage);
      print(`Saved ${await backup(onSqlite(config, 'Use pg_dump for PostgreSQL.'), file)} requests to ${file}.`);
    },
  },
  restore: {
    usage: 'restore FILE',
    summary: 'put a backup in the place of the SQLite database; the server must be stopped',
    async run(args, config, print) {
      const [file] = expectArgs(args, 1, this.usage);
      const kept = restore(onSqlite(config, 'Use pg_restore for PostgreSQL.'), file);
      print(kept === undefined ? `Restored ${file}.` : `Restored ${file}. The previous database is ${kept}.`);
    },
  },
  verify: {
    usage: 'verify [FILE]',
    summary: 'check a SQLite database or backup: its pages, and its counters against its requests',
    async run(args, config, print) {
      const [file] = args.length === 0 ? [undefined] : expectArgs(args, 1, this.usage);
      const found = verify(onSqlite(config, 'PostgreSQL checks its own files. Use pg_amcheck.'), file);
      if (found.length > 0) throw new AdminProblem(found.join('\n'));
      print('No mistakes found.');
    },
  },
  vacuum: {
    usage: 'vacuum',
    summary: 'give free space back to the disk; with SQLite the server must be stopped',
    async run(args, config, print) {
      expectArgs(args, 0, this.usage);
      if (config.databaseUrl === undefined) vacuumFile(config.dataDir);
      else await withDatabase(config, vacuumPostgres);
      print('Done.');
    },
  },
  'list-users': {
    usage: 'list-users',
    summary: 'list the accounts: id, username, email, plan, endpoints, stored requests',
    async run(args, config, print) {
      expectArgs(args, 0, this.usage);
      for (const user of await withDatabase(config, listUsers)) {
        const { id, username, email, plan, endpoints, requests } = user;
        print([id, username, email, plan, endpoints, requests].join('\t'));
      }
    },
  },
  'set-plan': {
    usage: 'set-plan USERNAME FREE|BASIC|PREMIUM',
    summary: 'change the plan of an account that does not pay for one',
    async run(args, config, print) {
      const [username, name] = expectArgs(args, 2, this.usage);
      const plan = tierSchema.safeParse(name);
      if (!plan.success) throw new AdminProblem('The plan must be FREE, BASIC or PREMIUM.', { isUsage: true });
      const result = await withDatabase(config, (db) => setPlan(db, username, plan.data));
      if (result === 'not-found') throw new AdminProblem(`There is no user “${username}”.`);
      if (result === 'subscribed')
        throw new AdminProblem(`“${username}” has a subscription, which sets the plan. Cancel it first.`);
      print(`“${username}” has the plan ${plan.data}.`);
    },
  },
  stats: {
    usage: 'stats',
    summary: 'count what is stored',
    async run(args, config, print) {
      expectArgs(args, 0, this.usage);
      const stats = await withDatabase(config, readStats);
      for (const [name, value] of Object.entries(stats)) print(`${name}\t${value}`);
    },
  },
  import: {
    usage: 'import FOLDER',
    summary: 'copy the SQLite database in FOLDER into the empty PostgreSQL database of DATABASE_URL',
    async run(args, config, print) {
      const [folder] = expectArgs(args, 1, this.usage);
      if (config.databaseUrl === undefined)
        throw new AdminProblem('Set DATABASE_URL to the PostgreSQL database that receives the data.');
      for (const { table, rows } of await importSqlite(folder, config.databaseUrl)) print(`${table}\t${rows}`);
    },
  },
};

/**
 * Runs `creel admin` with these args.
 * @throws AdminProblem, StorageProblem with a sentence for the operator
 */
export async function runAdmin(
  [name, ...args]: readonly string[],
  config: AdminConfig,
  print: (line: string) => void,
): Promise<void> {
  if (name === undefined || name === '--help' || name === 'help') return print(helpText());
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined)
    throw new AdminProblem(`There is no command “${name}”. See: creel admin --help`, { isUsage: true });
  await command.run(args, config, print);
}

function helpText(): string {
  const width = Math.max(...Object.values(COMMANDS).map(({ usage }) => usage.length));
  const rows = Object.values(COMMANDS).map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`);
  return `Usage: creel admin <command>

Works on the database of DATABASE_URL, or on the SQLite database in DATA_DIR.

${rows.join('\n')}`;
}

type Args<Count extends 0 | 1 | 2> = { 0: []; 1: [string]; 2: [string, string] }[Count];

/** @throws AdminProblem with the usage unless there are exactly `count` args */
function expectArgs<Count extends 0 | 1 | 2>(args: readonly string[], count: Count, usage: string): Args<Count>;
function expectArgs(args: readonly string[], count: number, usage: string): readonly string[] {
  if (args.length !== count) throw new AdminProblem(`Usage: creel admin ${usage}`, { isUsage: true });
  return args;
}

/** The data folder. @throws AdminProblem for PostgreSQL, with what to use instead */
function onSqlite(config: AdminConfig, instead: string): string {
  if (config.databaseUrl !== undefined) throw new AdminProblem(`This command is for SQLite only. ${instead}`);
  return config.dataDir;
}

/** How long a write waits for the running server's. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Runs `work` on the configured database, beside a running server. @throws AdminProblem, StorageProblem if it can't be
 * opened
 */
async function withDatabase<Result>(config: AdminConfig, work: (db: Database) => Promise<Result>): Promise<Result> {
  const { databaseUrl } = config;
  if (databaseUrl !== undefined) {
    const db = openPostgres(databaseUrl, SESSIONS.migration);
    try {
      return await work(db);
    } catch (error) {
      throw startProblem(error, databaseUrl);
    } finally {
      await db.destroy();
    }
  }
  const file = databaseFile(config.dataDir);
  expectDatabase(file);
  const db = sqliteDatabase(new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }));
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
