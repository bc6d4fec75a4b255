// Checks docs/spec-coverage.md and docs/spec-texts.json against the sources and tests.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const texts = z.array(z.string().min(1)).parse(JSON.parse(read('docs/spec-texts.json')));

/** The sources of three packages without comments and tests, on one line. */
const sources = ['web', 'contract', 'server']
  .flatMap((name) => globSync(`packages/${name}/src/**/*.{ts,tsx}`, { cwd: root }))
  .filter((path) => !/\.(test|suite)\.|[\\/](testing|durability)[\\/]/.test(path))
  .map(read)
  .map((source) => source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, ''))
  .join('\n')
  .replaceAll('&apos;', "'")
  .replaceAll(String.raw`\'`, "'")
  .replaceAll(/\s+/g, ' ');

const isWordCharacter = (character: string | undefined): boolean => /[\p{L}\p{N}_]/u.test(character ?? ' ');

/** True if the sources contain a text that is not part of a longer word. */
function isInSources(text: string): boolean {
  for (let at = sources.indexOf(text); at !== -1; at = sources.indexOf(text, at + 1)) {
    const [before, after] = [sources[at - 1], sources[at + text.length]];
    if (
      !(isWordCharacter(text[0]) && isWordCharacter(before)) &&
      !(isWordCharacter(text.at(-1)) && isWordCharacter(after))
    )
      return true;
  }
  return false;
}

/** The text around placeholders: `Expires {date}` has the part `Expires `. */
const fixedParts = (text: string): string[] => text.split(/\{\w+\}/).filter((part) => part !== '');

test('the sources contain every required text', () => {
  const missing = texts.filter((text) => !fixedParts(text).every(isInSources));
  expect(missing).toEqual([]);
  expect(texts.length).toBeGreaterThan(150);
});

interface Row {
  readonly requirement: string;
  readonly file: string;
  readonly tests: readonly string[];
}

const rows: Row[] = read('docs/spec-coverage.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (part|---) \|/.test(line))
  .map((line) => {
    const [, , requirement = '', file = '', tests = ''] = line.split('|').map((cell) => cell.trim());
    return { requirement, file: file.replaceAll('`', ''), tests: tests.split('<br>') };
  });

/** Marks a requirement that is not implemented on purpose, and needs no test. */
const REPLACED = /^not built: [^,]+$/;

function mistakeOf({ requirement, file, tests }: Row): string | undefined {
  if (tests.length === 1 && REPLACED.test(tests[0] ?? '')) return undefined;
  if (file === '' || !existsSync(join(root, file))) return `${requirement}: there is no ${file}`;
  return tests.map((named) => missingTest(requirement, named)).find((mistake) => mistake !== undefined);
}

function missingTest(requirement: string, named: string): string | undefined {
  const [, file, title] = /^`([^`]+)` (.+)$/.exec(named) ?? [];
  if (file === undefined || title === undefined) return `${requirement}: ${named} names no test`;
  if (!existsSync(join(root, file))) return `${requirement}: there is no ${file}`;
  const quoted = ["'", '"', '`'].map((quote) => `${quote}${title}${quote}`);
  const source = read(file).replaceAll(String.raw`\'`, "'");
  return quoted.some((each) => source.includes(each)) ? undefined : `${requirement}: ${file} has no test ‘${title}’`;
}

test('every requirement names an existing file and an existing test', () => {
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.map(mistakeOf).filter((mistake) => mistake !== undefined)).toEqual([]);
});

/** Specified numbers that no browser test can observe, and where they are set. */
const MEASURES: readonly (readonly [file: string, ...set: string[]])[] = [
  ['packages/web/src/api/queries.ts', 'staleTime: 30 * SECOND_MS', 'gcTime: 5 * MINUTE_MS', 'failures < 3'],
  ['packages/web/src/api/queries.ts', 'gcTime: 0', 'retryDelay: SECOND_MS'],
  ['packages/web/src/api/query-client.ts', 'staleTime: Number.POSITIVE_INFINITY', 'retry: false'],
  ['packages/contract/src/limits.ts', 'LIVE_RECONNECT_MS = 3000', 'UNSAVED_ID_BASE = 1_000_000'],
  ['packages/web/src/ui/copy.tsx', 'COPIED_MS = 2000'],
  ['packages/web/src/ui/state.ts', '(width < 768px)'],
  ['packages/web/src/features/accounts/profile-cards.tsx', 'RELOAD_AFTER_MS = 1000'],
  ['packages/web/src/features/requests/list/empty-endpoint.tsx', 'max-h-[400px]'],
  ['packages/web/src/features/billing/subscription-queries.ts', 'PORTAL_TOAST_MS = 10_000'],
  ['packages/web/src/router.tsx', "['all', 'get', 'post', 'put', 'delete']"],
];

test('the sources contain every specified number', () => {
  const missing = MEASURES.flatMap(([file, ...set]) =>
    set.filter((each) => !read(file).includes(each)).map((each) => `${file}: ${each}`),
  );
  expect(missing).toEqual([]);
});
