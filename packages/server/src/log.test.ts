import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { DiskState } from './database/store.ts';
import { createLog, watchDisk } from './log.ts';

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

test('a disk that fills up is logged at 80% and 90%, and again only after it had clearly more room', () => {
  const shares = [0.5, 0.79, 0.8, 0.85, 0.79, 0.81, 0.9, 0.89, 0.91, 0.84, 0.9, 0.5, 0.95];
  const text = logOf((log) => {
    const report = (onState: (state: DiskState) => void): void =>
      shares.forEach((usedShare) => onState({ freeBytes: 1, usedShare, isFull: false, missingFile: undefined }));
    watchDisk({ watchDisk: report }, log);
  });
  expect(text.match(/\d+% full/g)).toEqual(['80% full', '90% full', '90% full', '90% full']);
});
