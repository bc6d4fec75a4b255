import { createContext, use, useMemo, useState } from 'react';
import type { Dispatch, ReactNode, SetStateAction } from 'react';
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

type Keeper = readonly [ReplayDrafts, Dispatch<SetStateAction<ReplayDrafts>>];

const NONE: ReplayDraft = {};
const Context = createContext<Keeper>([new Map(), () => undefined]);

/** Keeps what was changed in the replays of an endpoint's requests while other requests are looked at. */
export function ReplayDraftsKeeper({ children }: { readonly children: ReactNode }) {
  const [drafts, setDrafts] = useState<ReplayDrafts>(new Map());
  return <Context value={useMemo(() => [drafts, setDrafts], [drafts])}>{children}</Context>;
}

/** What was changed in the replay of a request, and what changes more of it; `undefined` goes back to what was captured. */
export function useReplayDraft(index: number): readonly [ReplayDraft, (change: ReplayDraft) => void] {
  const [drafts, setDrafts] = use(Context);
  const change = useMemo(
    () => (part: ReplayDraft) => setDrafts((before) => withDraft(before, index, part)),
    [setDrafts, index],
  );
  return [drafts.get(index) ?? NONE, change];
}
