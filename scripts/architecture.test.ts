// Checks the calls that docs/architecture.md lists against the sources.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** A line of the list: functions, the file that defines them, and what they do. */
const CALL = /^ *(\S.*?) {2,}(\S+\.ts) {2,}\S/;

/** The parts of names such as `CaptureWriter.push, #send`. */
const namesOf = (functions: string): string[] => functions.split(/[.,] ?/);

function definesName(source: string, name: string): boolean {
  return new RegExp(`(?:(?:class|function|const|readonly|async) |^ *)${name}(?: (?:=|implements|\\{)|[(:])`, 'm').test(
    source,
  );
}

test('the files that the architecture names define the functions of a captured request', () => {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const [, list = ''] = /^## How a captured request is processed$[^]*?^```\n([^]*?)^```$/m.exec(text) ?? [];
  const calls = list
    .trimEnd()
    .split('\n')
    .map((line) => CALL.exec(line)?.slice(1, 3) ?? [line]);
  const mistakes = calls.flatMap(([functions = '', file]) => {
    if (file === undefined) return [`${functions} is not a call`];
    const source = readFileSync(join(root, 'packages/server/src', file), 'utf8');
    return namesOf(functions)
      .filter((name) => !definesName(source, name))
      .map((name) => `${file} has no ${name}`);
  });
  expect(calls.length).toBeGreaterThan(15);
  expect(mistakes).toEqual([]);
});
