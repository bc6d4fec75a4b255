import { expect, test } from 'vitest';
import { MAX_DRAFTS, withDraft } from './replay-drafts.ts';
import type { ReplayDrafts } from './replay-drafts.ts';

const NONE: ReplayDrafts = new Map();

test('changes to one request accumulate, and reverting all of them removes the draft', () => {
  const changed = withDraft(withDraft(NONE, 'a/3', { method: 'PUT' }), 'a/3', { url: 'http://a.test' });
  expect(changed.get('a/3')).toEqual({ method: 'PUT', url: 'http://a.test' });
  const half = withDraft(changed, 'a/3', { url: undefined });
  expect(half.get('a/3')?.method).toBe('PUT');
  expect(withDraft(half, 'a/3', { method: undefined }).size).toBe(0);
});

test('only the most recently changed drafts are kept', () => {
  let drafts = NONE;
  for (let index = 0; index < MAX_DRAFTS; index++) drafts = withDraft(drafts, `a/${index}`, { method: 'PUT' });
  drafts = withDraft(drafts, 'a/0', { method: 'GET' });
  drafts = withDraft(drafts, 'a/99', { method: 'GET' });
  expect(drafts.size).toBe(MAX_DRAFTS);
  expect([drafts.has('a/0'), drafts.has('a/1'), drafts.has('a/99')]).toEqual([true, false, true]);
});
