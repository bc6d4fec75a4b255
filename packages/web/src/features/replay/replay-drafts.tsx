import { createContext, use, useMemo, useState } from 'react';
import type { Dispatch, ReactNode, SetStateAction } from 'react';
import type { ReplayDraft } from './replay-form.ts';

/** Unsent changes to replays, by the index of the request. The most recently changed is the last. */
export type ReplayDrafts = ReadonlyMap<number, ReplayDraft>;

/** True if a replay differs from the captured request. */
export function isChanged(draft: ReplayDraft): boolean {
  return Object.values(draft).some((part) => part !== undefined);
}

/** Maximum of drafts. Edited bodies may be large. */
export const MAX_DRAFTS = 20;

/** Applies a change to a draft. `undefined` in a change reverts to the captured value. */
export function withDraft(drafts: ReplayDrafts, index: number, change: ReplayDraft): ReplayDrafts {
  const others = [...drafts].filter(([each]) => each !== index).slice(1 - MAX_DRAFTS);
  const draft = { ...drafts.get(index), ...change };
  return new Map(isChanged(draft) ? [...others, [index, draft]] : others);
}

type Keeper = readonly [ReplayDrafts, Dispatch<SetStateAction<ReplayDrafts>>];

const NONE: ReplayDraft = {};
const Context = createContext<Keeper>([new Map(), () => undefined]);

/** Keeps the drafts of an endpoint while the user looks at other requests. */
export function ReplayDraftsProvider({ children }: { readonly children: ReactNode }) {
  const [drafts, setDrafts] = useState<ReplayDrafts>(new Map());
  return <Context value={useMemo(() => [drafts, setDrafts], [drafts])}>{children}</Context>;
}

/** The draft of a request and a function to change it. `undefined` reverts to the captured value. */
export function useReplayDraft(index: number): readonly [ReplayDraft, (change: ReplayDraft) => void] {
  const [drafts, setDrafts] = use(Context);
  const change = useMemo(
    () => (part: ReplayDraft) => setDrafts((before) => withDraft(before, index, part)),
    [setDrafts, index],
  );
  return [drafts.get(index) ?? NONE, change];
}
