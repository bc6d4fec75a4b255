import { describe, expect, test } from 'vitest';
import { lookUpOnSystem, resolveTarget } from './resolve-target.ts';

const REFUSED = { code: 'TARGET_NOT_ALLOWED' };
const outside = (answers: readonly string[]) => ({ allowPrivate: false, lookUp: () => Promise.resolve(answers) });
const inside = (answers: readonly string[]) => ({ allowPrivate: true, lookUp: () => Promise.resolve(answers) });

test('a name resolves to all its addresses, each checked', async () => {
  expect(await resolveTarget('good.example', outside(['8.8.8.8', '2606:4700::1']))).toEqual([
    '8.8.8.8',
    '2606:4700::1',
  ]);
});

describe('a name with an internal address is rejected, whatever its other addresses are', () => {
  test.each([
    [['127.0.0.1']],
    [['8.8.8.8', '10.0.0.1']],
    [['8.8.8.8', '::1']],
    [['::ffff:10.0.0.1']],
    [['169.254.169.254']],
    [['8.8.8.8', 'nonsense']],
    [[...Array.from({ length: 999 }, (_, nth) => `8.8.${nth >> 8}.${nth & 255}`), '127.0.0.1']],
  ])('%j', async (answers) => {
    await expect(resolveTarget('bad.example', outside(answers))).rejects.toMatchObject(REFUSED);
  });

  test.each([[['8.8.8.8', '169.254.169.254']], [['168.63.129.16']], [['fe80::1']]])(
    '%j, also where private targets are allowed',
    async (answers) => {
      await expect(resolveTarget('bad.example', inside(answers))).rejects.toMatchObject(REFUSED);
    },
  );
});

test('where private targets are allowed, a name may lead to one', async () => {
  expect(await resolveTarget('web', inside(['10.0.0.7', '::1']))).toEqual(['10.0.0.7', '::1']);
  expect(await resolveTarget('localhost', { allowPrivate: true, lookUp: lookUpOnSystem })).toContain('127.0.0.1');
});

test.each(['localhost', 'LOCALHOST.', 'foo.localhost'])('%s is this machine: nobody is asked', async (name) => {
  const lookUp = (): Promise<string[]> => Promise.reject(new Error('asked'));
  await expect(resolveTarget(name, { allowPrivate: false, lookUp })).rejects.toMatchObject(REFUSED);
});

test('an address is not looked up', async () => {
  const lookUp = (): Promise<string[]> => Promise.reject(new Error('asked'));
  expect(await resolveTarget('8.8.8.8', { allowPrivate: false, lookUp })).toEqual(['8.8.8.8']);
  await expect(resolveTarget('::7f00:1', { allowPrivate: false, lookUp })).rejects.toMatchObject(REFUSED);
});

test.each([
  ['has none', () => Promise.resolve([]), /has no address/],
  ['does not exist', () => Promise.reject(new Error('ENOTFOUND')), /could not be found/],
])('a name that %s is told so', async (_what, lookUp, sentence) => {
  await expect(resolveTarget('gone.example', { allowPrivate: false, lookUp })).rejects.toMatchObject({
    code: 'REPLAY_FAILED',
    message: expect.stringMatching(sentence),
  });
});

test('of a thousand addresses a few are tried', async () => {
  const many = Array.from({ length: 1000 }, (_, nth) => `8.8.${nth >> 8}.${nth & 255}`);
  expect(await resolveTarget('many.example', outside(many))).toEqual(many.slice(0, 8));
});
