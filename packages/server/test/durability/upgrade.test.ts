import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { serverProgram } from '../../../../fixtures/server-program.ts';
import { runUpgrade } from '../chaos/run-upgrade.ts';
import { createTestDatabase } from '../test-database.ts';

test('two nodes are upgraded one after the other, and one of them back: nothing acknowledged is lost, and nothing fails', async () => {
  const lines: string[] = [];
  const to = fileURLToPath(new URL('../next-version.ts', import.meta.url));
  const database = await createTestDatabase();
  const report = await runUpgrade({ from: serverProgram, to, stepMs: 500, database }, (line) => lines.push(line))
    .catch((error: unknown) => {
      throw new Error(lines.join('\n'), { cause: error });
    })
    .finally(() => database.remove());
  expect(report.flaws).toEqual({ lost: [], twice: [], misordered: [], irregular: [], wrongViewers: [] });
  expect(report.acknowledged).toBeGreaterThan(100);
  // 0 while a node starts. A statement that the schema does not fit would be a 500 or 503.
  const { errors, answers, dashboard } = report;
  expect({ errors, answers: Object.keys(answers), dashboard: Object.keys(dashboard) }).toEqual({
    errors: [],
    answers: ['0', '200'],
    dashboard: ['0', '200', '201', '204'],
  });
  expect(report.refusal).toContain(
    'The database was written by a newer version of Creel (schema 999, this version knows',
  );
}, 300_000);
