import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { expect, test } from 'vitest';
import { fromRoot } from './paths.mjs';

function creel(...words: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [fromRoot('packages', 'cli', 'creel.mjs'), ...words], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

test.each([
  ['serve --help', 0, 'Usage: creel serve'],
  ['serve -h', 0, 'Usage: creel serve'],
  ['help serve', 0, 'Usage: creel serve'],
  ['help admin', 0, 'Usage: creel admin <command>'],
  ['serve --port 80', 2, 'The server takes no options: “--port”. See: creel serve --help'],
])('creel %s starts no server', async (words, code, beginning) => {
  const result = await creel(...words.split(' '));
  expect([result.code, result.output.slice(0, beginning.length)]).toEqual([code, beginning]);
});

test('creel admin ends in good order when its reader closes the pipe', async () => {
  const admin = spawn(process.execPath, [fromRoot('packages', 'cli', 'creel.mjs'), 'admin', '--help']);
  admin.stdout.destroy();
  const errors = await admin.stderr.toArray();
  const [code]: unknown[] = admin.exitCode === null ? await once(admin, 'exit') : [admin.exitCode];
  expect([code, Buffer.concat(errors).toString()]).toEqual([0, '']);
});
