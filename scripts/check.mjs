// `npm run check`: what the code's looks can tell, in seconds.
import process from 'node:process';
import { runChecks } from './checks.mjs';
import { endTogether } from './run-aside.mjs';

endTogether();
for (const { name, ok, output } of await runChecks(process.env)) {
  process.stdout.write(`${ok ? '✓' : '✗'} ${name}\n${ok ? '' : output}`);
  process.exitCode = ok ? process.exitCode : 1;
}
