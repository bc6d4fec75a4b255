// `npm run upgrade -- [commit]` upgrades two nodes from another commit to this one and back, under load, and runs that
// commit's tests of storage on this schema. The default is the last commit without the newest migration, because the
// schema must not break the version before it. `--seconds 10` is the time between two changes of a node. Exits with 1 if
// something fails.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtempDisposable, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { runUpgrade } from '../../packages/server/test/chaos/run-upgrade.ts';
import { startOwnServer } from '../../packages/server/test/own-postgres.ts';
import { buildIfStale } from '../../scripts/build.ts';
import { npm } from '../../scripts/install.mjs';
import { fromRoot, root } from '../../scripts/paths.mjs';
import { readArguments } from '../../scripts/read-arguments.ts';

const MIGRATIONS = 'packages/server/src/database/migrations';
/** The tests of all queries, on both databases. */
const QUERY_TESTS = ['postgres/postgres-store.test.ts', 'sqlite/sqlite-store.test.ts'].map(
  (file) => `packages/server/src/database/${file}`,
);
const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const { values, positionals } = readArguments('Usage: npm run upgrade -- [--seconds 10] [commit]', {
  options: { seconds: { type: 'string', default: '10' } },
  allowPositionals: true,
});

const print = (line: string): void => void process.stdout.write(`${new Date().toISOString()} ${line}\n`);

async function git(...args: readonly string[]): Promise<string> {
  return (await run('git', args, { cwd: root })).stdout.trim();
}

/** The files of the migrations of a tree, oldest first. */
async function migrationsOf(tree: string): Promise<string[]> {
  const files = await readdir(join(tree, MIGRATIONS));
  return files.filter((file) => /^\d.*(?<!\.test)\.ts$/.test(file)).toSorted();
}

async function lastCommitBeforeSchema(): Promise<string> {
  const newest = (await migrationsOf(root)).at(-1);
  const history = ['log', '--first-parent', '-m', '--diff-filter=A', '--format=%H', '--', `${MIGRATIONS}/${newest}`];
  const [added] = (await git(...history)).split('\n');
  if (!added) throw new Error(`No commit added ${newest}. Name a commit.`);
  return git('rev-parse', `${added}^1`);
}

/**
 * Adds the migrations that an older tree lacks to its list, which is the only array of its file. All other files stay,
 * because those of today need modules of today.
 */
async function addMigrations(tree: string): Promise<void> {
  const present = await migrationsOf(tree);
  const missing = (await migrationsOf(root)).filter((file) => !present.includes(file));
  const files = (await readdir(join(tree, MIGRATIONS))).map((file) => join(tree, MIGRATIONS, file));
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, 'utf8') })));
  const list = texts.find(({ text }) => text.includes('export const MIGRATIONS'));
  if (list === undefined) throw new Error('The commit has no list of migrations.');
  const imports = missing.map((file, nth) => `import * as added${nth} from './${file}';\n`);
  const entries = missing.map((_, nth) => `  ...Object.values(added${nth}),\n`);
  await writeFile(list.file, imports.join('') + list.text.replace('\n];', `\n${entries.join('')}];`));
  for (const file of missing) await copyFile(fromRoot(MIGRATIONS, file), join(tree, MIGRATIONS, file));
}

/** The files of a commit with its packages. If they are those of this commit, the installed ones are used. */
async function checkOut(commit: string, tree: string): Promise<void> {
  const archive = join(tree, 'archive.tar');
  await git('archive', `--output=${archive}`, commit);
  await run('tar', ['-xf', archive, '-C', tree]);
  const changed = await git('diff', '--name-only', commit, '--', 'package-lock.json');
  if (changed !== '') return npm(['ci', '--ignore-scripts'], tree);
  const packages = join(tree, 'node_modules');
  await mkdir(join(packages, '@creel'), { recursive: true });
  for (const name of await readdir(fromRoot('node_modules')))
    if (name !== '@creel') await symlink(fromRoot('node_modules', name), join(packages, name));
  for (const name of await readdir(join(tree, 'packages')))
    await symlink(join(tree, 'packages', name), join(packages, '@creel', name));
}

/** Runs a Node program of the tree. @throws Error with its output when it fails */
async function runNode(tree: string, ...args: readonly string[]): Promise<void> {
  const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(':');
  await run(process.execPath, args, { cwd: tree, env: { ...process.env, PATH: path }, maxBuffer: MAX_OUTPUT_BYTES });
}

await using folder = await mkdtempDisposable(join(tmpdir(), 'creel-upgrade-'));
const tree = folder.path;
const commit = positionals[0] ?? (await lastCommitBeforeSchema());
print(`from ${await git('log', '-1', '--format=%h %cs %s', commit)}`);
await checkOut(commit, tree);
await Promise.all([runNode(tree, 'scripts/bundle.ts', 'server', join(tree, 'bundle')), buildIfStale()]);
await addMigrations(tree);
await runNode(tree, 'node_modules/vitest/vitest.mjs', 'run', ...QUERY_TESTS);
print('its queries work with this schema');
const database = await startOwnServer();
const programs = { from: join(tree, 'bundle', 'main.js'), to: fromRoot('packages', 'server', 'dist', 'main.js') };
const stepMs = Number(values.seconds) * 1000;
const report = await runUpgrade({ ...programs, stepMs, database }, print).finally(() => database.stop());
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
const isFlawed = Object.values(report.flaws).some((list) => list.length > 0);
const hasFailed = Object.keys({ ...report.answers, ...report.dashboard }).some((status) => Number(status) >= 400);
if (isFlawed || hasFailed) process.exitCode = 1;
