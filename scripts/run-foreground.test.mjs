import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const module = JSON.stringify(join(import.meta.dirname, 'run-foreground.mjs'));

/** Runs `script` in a Node below runForeground, as `npm start` runs the server. */
function below(script) {
  const code = `import(${module}).then(({ runForeground }) => runForeground(process.execPath, ['-e', ${JSON.stringify(script)}]))`;
  return spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('the exit code is carried', async () => {
  expect(await once(below('process.exitCode = 7'), 'exit')).toEqual([7, null]);
});

test.for(['SIGTERM', 'SIGINT'])('%s reaches the program, whose end is ours', async (signal) => {
  const child = below(`
    process.on('${signal}', () => { console.log('ending'); process.exit(3); });
    setInterval(() => {}, 1000);
    console.log('up');
  `);
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
    if (said === 'up\n') {
      child.kill(signal);
    }
  });
  expect(await once(child, 'close')).toEqual([3, null]);
  expect(said).toBe('up\nending\n');
});

test('a program that a signal ended ends us by the same', async () => {
  expect(await once(below(`process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000)`), 'exit')).toEqual([
    null,
    'SIGKILL',
  ]);
});

test('a program whose npm was killed is asked to end', async () => {
  const program = `process.on('SIGTERM', () => { console.log('ending'); process.exit(); }); setInterval(() => {}, 1000); console.log('up');`;
  const inner = `import(${module}).then(({ runForeground }) => runForeground(process.execPath, ['-e', ${JSON.stringify(program)}]))`;
  const npm = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' })`;
  const env = { ...process.env, npm_lifecycle_event: 'start' };
  const child = spawn(process.execPath, ['-e', npm], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
    if (said === 'up\n') {
      child.kill('SIGKILL');
    }
  });
  // The pipe closes when the last of the three has ended.
  await once(child, 'close');
  expect(said).toBe('up\nending\n');
});
