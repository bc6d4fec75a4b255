import { expect, test } from 'vitest';
import { UsageProblem } from '../cli-problem.ts';
import { parseDestination, pathAt } from './destination.ts';

test.each([
  ['http://localhost:4000', '', '/'],
  ['http://localhost:4000/', '/', '/'],
  ['http://localhost:4000', '/a/../b%2f?x=%zz', '/a/../b%2f?x=%zz'],
  ['http://localhost:4000/hooks', '', '/hooks'],
  ['http://localhost:4000/hooks', '?a=b', '/hooks?a=b'],
  ['http://localhost:4000/hooks', '/a?b', '/hooks/a?b'],
  ['http://localhost:4000/hooks/', '/a', '/hooks/a'],
  ['http://localhost:4000/hooks/', '', '/hooks/'],
  ['http://localhost:4000/hooks?token=1', '', '/hooks?token=1'],
  ['http://localhost:4000/hooks?token=1', '/a', '/hooks/a?token=1'],
  ['http://localhost:4000/hooks?token=1', '/a?x=2?y', '/hooks/a?token=1&x=2?y'],
  ['http://localhost:4000/hooks?token=1', '?', '/hooks?token=1'],
])('to %s what followed the capture URL with %j goes to %s', (destination, rawTarget, path) => {
  expect(pathAt(parseDestination(destination), rawTarget)).toBe(path);
});

test.each(['', 'localhost:4000', 'ftp://localhost', 'http://', 'http://user:secret@localhost/'])(
  '%j is nowhere to forward to',
  (text) => {
    expect(() => parseDestination(text)).toThrow(UsageProblem);
  },
);
