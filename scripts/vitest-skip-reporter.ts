import { mkdir, writeFile } from 'node:fs/promises';
import type { Reporter, TestModule } from 'vitest/node';

/** Records the reasons of `context.skip('the reason')`, which Vitest's JSON report leaves out. */
class SkipReporter implements Reporter {
  async onTestRunEnd(modules: ReadonlyArray<TestModule>): Promise<void> {
    const skips = modules
      .flatMap((module) => [...module.children.allTests('skipped')])
      .map((test) => {
        const result = test.result();
        return { name: test.fullName, reason: (result.state === 'skipped' && result.note) || 'no reason given' };
      });
    await mkdir('.cache', { recursive: true });
    await writeFile('.cache/vitest-skips.json', JSON.stringify(skips));
  }
}

// Vitest loads a reporter by its default export.
export default SkipReporter;
