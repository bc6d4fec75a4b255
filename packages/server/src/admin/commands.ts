import { tierSchema } from '@creel/contract';
import { AdminProblem, backup, restore, vacuumFile, verify, expectDatabase } from './sqlite-files.ts';
import { importSqlite } from './import-sqlite.ts';
import { listUsers, readStats, setPlan, vacuumPostgres } from './queries.ts';
import { DatabaseSync } from 'node:sqlite';
import { openDatabase as openPostgres, SESSIONS } from '../database/postgres/session.ts';
import { startProblem } from '../database/postgres/faults.ts';
import type { Config } from '../config.ts';
import { codeOf } from '../error-code.ts';
import type { Database } from '../database/schema.ts';
import { sqliteDatabase } from '../database/sqlite/engine.ts';
import { BUSY_TIMEOUT_MS } from '../database/sqlite/open-database.ts';

/** Where the data is. `databaseUrl` is set for PostgreSQL. */
export type AdminConfig = Pick<Config, 'dataDir' | 'databaseUrl'>;

interface AdminContext {
  readonly config: AdminConfig;
  readonly print: (line: string) => void;
}

interface AdminCommand {
  /** Names of the arguments. The name of an optional one is in brackets. */
  readonly args: readonly string[];
  readonly summary: string;
  run(context: AdminContext, ...args: string[]): Promise<void>;
}

/** Commands of `creel admin`: docs/operations.md, "Administration". */
const COMMANDS: Readonly<Record<string, AdminCommand>> = {
  backup: {
    args: ['FILE'],
    summary: 'copy the SQLite database to FILE, even while the server runs',
    async run({ config, print }, file: string) {
      const count = await backup(onSqlite(config, 'Use pg_dump for PostgreSQL.'), file);
      print(`Saved ${count} ${count === 1 ? 'request' : 'requests'} to ${file}.`);
    },
  },
  restore: {
    args: ['FILE'],
    summary: 'replace the SQLite database with a backup; the server must be stopped',
    async run({ config, print }, file: string) {
      const kept = await restore(onSqlite(config, 'Use pg_restore for PostgreSQL.'), file);
      print(kept === undefined ? `Restored ${file}.` : `Restored ${file}. The previous database is ${kept}.`);
    },
  },
  verify: {
    args: ['[FILE]'],
    summary: 'check a SQLite database or backup: its pages, and its counters against its requests',
    async run({ config, print }, file?: string) {
      const found = verify(onSqlite(config, 'PostgreSQL checks its own files. Use pg_amcheck.'), file);
      if (found.length > 0) throw new AdminProblem(found.join('\n'));
      print('No mistakes found.');
    },
  },
  vacuum: {
    args: [],
    summary: 'SQLite: give free space back to the disk, with the server stopped; PostgreSQL: reuse it for new captures',
    async run({ config, print }) {
      if (config.databaseUrl === undefined) vacuumFile(config.dataDir);
      else await withDatabase(config, vacuumPostgres);
      print('Done.');
    },
  },
  'list-users': {
    args: [],
    summary: 'list the accounts: id, username, email, plan, endpoints, stored requests, bytes of their bodies',
    async run({ config, print }) {
      for (const user of await withDatabase(config, listUsers)) {
        const { id, username, email, plan, endpoints, requests, bodyBytes } = user;
        print([id, username, email, plan, endpoints, requests, bodyBytes].join('\t'));
      }
    },
  },
  'set-plan': {
    args: ['USERNAME', 'FREE|BASIC|PREMIUM'],
    summary: 'change the plan of an account without a subscription',
    async run({ config, print }, username: string, name: string) {
      const plan = tierSchema.safeParse(name.toUpperCase());
      if (!plan.success) throw new AdminProblem('The plan must be FREE, BASIC or PREMIUM.', { isUsage: true });
      const result = await withDatabase(config, (db) => setPlan(db, username, plan.data));
      if (result === 'not-found') throw new AdminProblem(`There is no user “${username}”.`);
      if (result === 'subscribed')
        throw new AdminProblem(`“${username}” has a subscription, which sets the plan. Cancel it first.`);
      print(`“${username}” has the plan ${plan.data}.`);
    },
  },
  stats: {
    args: [],
    summary: 'count what is stored',
    async run({ config, print }) {
      const stats = await withDatabase(config, readStats);
      for (const [name, value] of Object.entries(stats)) print(`${name}\t${value}`);
    },
  },
  import: {
    args: ['FOLDER'],
    summary: 'copy the SQLite database in FOLDER into the empty PostgreSQL database of DATABASE_URL',
    async run({ config, print }, folder: string) {
      if (config.databaseUrl === undefined)
        throw new AdminProblem('Set DATABASE_URL to the PostgreSQL database that receives the data.');
      for (const { table, rows } of await importSqlite(folder, config.databaseUrl)) print(`${table}\t${rows}`);
    },
  },
};

/** Runs `creel admin`. @throws AdminProblem, StorageProblem with a sentence for the operator */
export async function runAdmin(
  [name, ...args]: readonly string[],
  config: AdminConfig,
  print: (line: string) => void,
): Promise<void> {
  const [word] = args;
  if (name === undefined || name === 'help' || isHelp(name) || (word !== undefined && isHelp(word)))
    return print(helpText());
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined)
    throw new AdminProblem(`There is no command “${name}”. See: creel admin --help`, { isUsage: true });
  const required = command.args.filter((arg) => !arg.startsWith('['));
  if (args.length < required.length || args.length > command.args.length)
    throw new AdminProblem(`Usage: creel admin ${usageOf(name, command)}`, { isUsage: true });
  const wrong = args.find((arg) => arg === '' || arg.startsWith('-'));
  if (wrong !== undefined)
    throw new AdminProblem(`creel admin ${name} does not take the argument “${wrong}”.`, { isUsage: true });
  try {
    await command.run({ config, print }, ...args);
  } catch (error) {
    throw isSystemError(error) ? new AdminProblem(`creel admin ${name} failed: ${error.message}.`) : error;
  }
}

const isHelp = (word: string): boolean => word === '--help' || word === '-h';

/** True for failures of files, SQLite and PostgreSQL, such as a full disk. They are no defects. */
const isSystemError = (error: unknown): error is Error => error instanceof Error && codeOf(error) !== undefined;

function usageOf(name: string, { args }: AdminCommand): string {
  return [name, ...args].join(' ');
}

function helpText(): string {
  const rows = Object.entries(COMMANDS).map(([name, command]) => [usageOf(name, command), command.summary] as const);
  const width = Math.max(...rows.map(([usage]) => usage.length));
  return `Usage: creel admin <command>

Works on the database of DATABASE_URL, or on the SQLite database in DATA_DIR.

${rows.map(([usage, summary]) => `  ${usage.padEnd(width)}  ${summary}`).join('\n')}`;
}

/** The data folder. @throws AdminProblem for PostgreSQL, with what to use instead */
function onSqlite(config: AdminConfig, instead: string): string {
  if (config.databaseUrl !== undefined) throw new AdminProblem(`This command is for SQLite only. ${instead}`);
  return config.dataDir;
}

/** Runs `work` on the configured database, beside a running server. @throws AdminProblem, StorageProblem */
async function withDatabase<Result>(
  { dataDir, databaseUrl }: AdminConfig,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  await using db = databaseUrl === undefined ? openSqlite(dataDir) : openPostgres(databaseUrl, SESSIONS.migration);
  try {
    return await work(db);
  } catch (error) {
    throw databaseUrl === undefined ? error : startProblem(error, databaseUrl);
  }
}

function openSqlite(dataDir: string): Database {
  return sqliteDatabase(new DatabaseSync(expectDatabase(dataDir), { timeout: BUSY_TIMEOUT_MS }));
}
