import type { ReplayDraft } from './replay-form.ts';

/** What was changed in replays that are not sent yet, by the request's index; the one that was changed last is the last. */
export type ReplayDrafts = ReadonlyMap<number, ReplayDraft>;

/** Whether anything of a replay differs from what was captured. */
export function isChanged(draft: ReplayDraft): boolean {
  return Object.values(draft).some((part) => part !== undefined);
}

/** Drafts that are kept: edited bodies may be large. */
export const DRAFTS_KEPT = 20;

/** The drafts with a change in one; `undefined` in a change goes back to what was captured. */
export function withDraft(drafts: ReplayDrafts, index: number, change: ReplayDraft): ReplayDrafts {
  const others = [...drafts].filter(([each]) => each !== index).slice(1 - DRAFTS_KEPT);
  const draft = { ...drafts.get(index), ...change };
  return new Map(isChanged(draft) ? [...others, [index, draft]] : others);
}
