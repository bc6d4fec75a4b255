// `npm run check`: the checks that don't run the code. `npm test` runs them too.
import process from 'node:process';
import { fromRoot } from './paths.mjs';
import { killChildrenOnSignal, runChild } from './run-child.ts';

export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly output: string;
}

/** A program in node_modules and its arguments, by name. Exit code 0 means that the check passed. */
const checks: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  // By default, four checkers per project each check the types that they share: twice the processor time.
  types: ['typescript/bin/tsc', '--build', '--checkers', '1', '--pretty', 'false'],
  lint: ['oxlint/bin/oxlint', '--deny-warnings'],
  'dead code': ['knip/bin/knip.js'],
  'format (fix with: npx oxfmt)': ['oxfmt/bin/oxfmt', '--check'],
};

/** Runs all checks at the same time. */
export async function runChecks(env: NodeJS.ProcessEnv): Promise<CheckResult[]> {
  return await Promise.all(
    Object.entries(checks).map(async ([name, [program, ...args]]) => {
      const { code, output } = await runChild(process.execPath, [fromRoot('node_modules', program), ...args], { env });
      return { name, ok: code === 0, output };
    }),
  );
}

if (import.meta.main) {
  killChildrenOnSignal();
  for (const { name, ok, output } of await runChecks(process.env)) {
    process.stdout.write(`${ok ? '✓' : '✗'} ${name}\n${ok ? '' : output}`);
    if (!ok) process.exitCode = 1;
  }
}
