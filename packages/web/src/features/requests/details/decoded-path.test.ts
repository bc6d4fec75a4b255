import { expect, test } from 'vitest';
import { decodedPath } from './decoded-path.ts';

test.each([
  ['/plain', undefined],
  ['/caf%C3%A9%20%2F', '/café /'],
  ['/100%', undefined],
  ['/%ff', undefined],
  ['/a%0Ab', undefined],
  ['/a%E2%80%AEb', String.raw`/a\u202eb`],
])('%s is decoded to %s', (path, decoded) => expect(decodedPath(path)).toBe(decoded));
