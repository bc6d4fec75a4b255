import { createContext, use, useMemo, useState } from 'react';
import type { Dispatch, ReactNode, SetStateAction } from 'react';
import { withDraft } from '../../model/replay-drafts.ts';
import type { ReplayDrafts } from '../../model/replay-drafts.ts';
import type { ReplayDraft } from '../../model/replay-form.ts';

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
