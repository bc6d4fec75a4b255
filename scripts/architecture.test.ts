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

test.each(['How a captured request is processed', 'Replay', 'Deliveries'])(
  'the files that the architecture lists define the functions: %s',
  (heading) => {
    const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    const [section = ''] = text.split(`\n## ${heading}\n`)[1]?.split('\n## ') ?? [];
    const [, list = ''] = section.split('```\n');
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
    expect(calls.length).toBeGreaterThan(5);
    expect(mistakes).toEqual([]);
  },
);
