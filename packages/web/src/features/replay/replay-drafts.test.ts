import { expect, test } from 'vitest';
import { MAX_DRAFTS, withDraft } from './replay-drafts.tsx';
import type { ReplayDrafts } from './replay-drafts.tsx';

const NONE: ReplayDrafts = new Map();

test('changes to one request accumulate, and reverting all of them removes the draft', () => {
  const changed = withDraft(withDraft(NONE, 3, { method: 'PUT' }), 3, { url: 'http://a.test' });
  expect(changed.get(3)).toEqual({ method: 'PUT', url: 'http://a.test' });
  const half = withDraft(changed, 3, { url: undefined });
  expect(half.get(3)?.method).toBe('PUT');
  expect(withDraft(half, 3, { method: undefined }).size).toBe(0);
});

test('only the most recently changed drafts are kept', () => {
  let drafts = NONE;
  for (let index = 0; index < MAX_DRAFTS; index++) drafts = withDraft(drafts, index, { method: 'PUT' });
  drafts = withDraft(drafts, 0, { method: 'GET' });
  drafts = withDraft(drafts, 99, { method: 'GET' });
  expect(drafts.size).toBe(MAX_DRAFTS);
  expect([drafts.has(0), drafts.has(1), drafts.has(99)]).toEqual([true, false, true]);
});
