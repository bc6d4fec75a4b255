// The checks that look at the code without running it. `npm run check` and `npm test` share them.
import { at } from './places.mjs';
import { runAside } from './run-aside.mjs';

const bin = (...parts) => at('node_modules', ...parts);
const types = (config) => [bin('typescript', 'bin', 'tsc'), '--noEmit', '--pretty', 'false', '-p', at(config)];

/** Each is run with the bundled Node and is right if it ends with 0. */
const checks = [
  { name: 'types', args: types('tsconfig.json') },
  { name: 'types (web)', args: types('tsconfig.web.json') },
  { name: 'lint', args: [bin('oxlint', 'bin', 'oxlint'), '--deny-warnings'] },
  { name: 'format (mend with: npx oxfmt)', args: [bin('oxfmt', 'bin', 'oxfmt'), '--check'] },
];

/**
 * Runs all of them at once.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ name: string, ok: boolean, output: string }[]>}
 */
export async function runChecks(env) {
  return await Promise.all(
    checks.map(async ({ name, args }) => {
      const { code, output } = await runAside(process.execPath, args, { env });
      return { name, ok: code === 0, output };
    }),
  );
}
