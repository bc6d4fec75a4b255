import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const module = JSON.stringify(join(import.meta.dirname, 'run-foreground.mjs'));

/** Runs `script` in a child of runForeground, as `npm start` runs the server. */
function startBelow(script) {
  const code = `import(${module}).then(({ runForeground }) => runForeground(process.execPath, ['-e', ${JSON.stringify(script)}]))`;
  return spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('the exit code is passed on', async () => {
  expect(await once(startBelow('process.exitCode = 7'), 'exit')).toEqual([7, null]);
});

test.for(['SIGTERM', 'SIGINT'])('%s reaches the program, and its exit code is passed on', async (signal) => {
  const child = startBelow(`
    process.on('${signal}', () => { console.log('ending'); process.exit(3); });
    setInterval(() => {}, 1000);
    console.log('up');
  `);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    if (output === 'up\n') {
      child.kill(signal);
    }
  });
  expect(await once(child, 'close')).toEqual([3, null]);
  expect(output).toBe('up\nending\n');
});

test('the signal that ended the program is passed on', async () => {
  expect(await once(startBelow(`process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000)`), 'exit')).toEqual([
    null,
    'SIGKILL',
  ]);
});

test('a program whose npm was killed gets SIGTERM', async () => {
  const program = `process.on('SIGTERM', () => { console.log('ending'); process.exit(); }); setInterval(() => {}, 1000); console.log('up');`;
  const inner = `import(${module}).then(({ runForeground }) => runForeground(process.execPath, ['-e', ${JSON.stringify(program)}]))`;
  const npm = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' })`;
  const env = { ...process.env, npm_lifecycle_event: 'start' };
  const child = spawn(process.execPath, ['-e', npm], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    if (output === 'up\n') {
      child.kill('SIGKILL');
    }
  });
  // The pipe closes when the last of the three processes has exited.
  await once(child, 'close');
  expect(output).toBe('up\nending\n');
});
