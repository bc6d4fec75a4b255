import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLog } from './log.ts';

function logOf(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = '';
  write(
    createLog('debug', false, new Writable({ write: (line, _encoding, done) => done(void (text += String(line))) })),
  );
  return text;
}

test('an error is logged with its type, message and stack only', () => {
  const cause = Object.assign(new Error('refused', { cause: 'canary cause' }), { body: 'canary body' });
  const error = Object.assign(new TypeError('failed', { cause }), {
    code: '23505',
    detail: 'Failing row contains (canary row)',
    parameters: ['canary'],
  });
  const line = logOf((log) => log.error({ err: error }, 'a call failed'));
  expect(JSON.parse(line)).toMatchObject({
    err: {
      type: 'TypeError',
      message: 'failed',
      code: '23505',
      stack: expect.stringContaining('log.test.ts'),
      cause: { message: 'refused' },
    },
  });
  expect(line).not.toContain('canary');
});

test('everything logged is one line of JSON', () => {
  const hostile = 'a\r\nb\u001b[31m{"level":60}\u2028';
  const lines = logOf((log) => {
    log.info({ what: hostile }, hostile);
    log.error({ err: new Error(hostile) }, 'failed');
    log.error({ err: hostile }, 'failed');
  }).split('\n');
  expect(lines.map((line) => (line === '' ? 'end' : typeof JSON.parse(line)))).toEqual([
    'object',
    'object',
    'object',
    'end',
  ]);
  expect(lines[0]).toContain(String.raw`\r\nb\u001b[31m`);
});
