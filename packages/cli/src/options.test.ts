import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { noteLateMatches } from './options.ts';

test.each([
  ['status:500', true],
  ['method:POST is:failed', true],
  ['(is:pending OR status:5xx)', true],
  ['-status:500', false],
  ['is:saved', false],
  ['is:unsaved', false],
  ['is:failed OR method:POST', false],
  ['', false],
])('whether %j matches only captures with a delivery: %j', async (query, isNoted) => {
  const stderr = new PassThrough();
  await noteLateMatches(query, { stderr });
  expect(String(stderr.read() ?? '').startsWith('This query matches only captures with a delivery')).toBe(isNoted);
});
