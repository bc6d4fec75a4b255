import { pathToFileURL } from 'node:url';
import type { workerFile as realWorkerFile } from '../src/workers/worker-file.ts';
import { serverProgram } from '../../../fixtures/server-program.ts';

/**
 * Replaces `workers/worker-file.ts` in `npm test` (vitest.config.ts): threads come from the bundle that was just built. From the source,
 * each thread loads 200 modules, which takes three times as long, and the tests start hundreds.
 */
export const workerFile: typeof realWorkerFile = (_starter, _source, bundled) =>
  new URL(bundled, pathToFileURL(serverProgram));
