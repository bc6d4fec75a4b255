import { useCallback, useEffect } from 'react';
import { signal, useSignal } from '../../ui/state.ts';
import type { ReplayDraft } from './replay-form.ts';

/** Names a request in all endpoints. */
type RequestKey = `${string}/${number}`;

const keyOf = (uid: string, index: number): RequestKey => `${uid}/${index}`;

/** Unsent changes to replays, by request. The most recently changed is the last. */
export type ReplayDrafts = ReadonlyMap<RequestKey, ReplayDraft>;

/** True if a replay differs from the captured request. */
export function isChanged(draft: ReplayDraft): boolean {
  return Object.values(draft).some((part) => part !== undefined);
}

/** Maximum number of drafts. Edited bodies may be large. */
export const MAX_DRAFTS = 20;

/** Applies a change to a draft. `undefined` in a change reverts to the captured value. */
export function withDraft(drafts: ReplayDrafts, request: RequestKey, change: ReplayDraft): ReplayDrafts {
  const others = [...drafts].filter(([each]) => each !== request).slice(1 - MAX_DRAFTS);
  const draft = { ...drafts.get(request), ...change };
  return new Map(isChanged(draft) ? [...others, [request, draft]] : others);
}

const NONE: ReplayDraft = {};
const NO_DRAFTS: ReplayDrafts = new Map();

/** They stay while the user looks at other requests and pages. */
const replayDrafts = signal(NO_DRAFTS);

/** The request whose replay form is open. */
const openForm = signal<RequestKey | undefined>(undefined);

/** Call this after a logout. */
export function forgetReplayDrafts(): void {
  replayDrafts.set(NO_DRAFTS);
  openForm.set(undefined);
}

/** The draft of a request and a function to change it. `undefined` reverts to the captured value. */
export function useReplayDraft(uid: string, index: number): readonly [ReplayDraft, (change: ReplayDraft) => void] {
  const request = keyOf(uid, index);
  const change = useCallback(
    (part: ReplayDraft) => replayDrafts.set(withDraft(replayDrafts.read(), request, part)),
    [request],
  );
  return [useSignal(replayDrafts).get(request) ?? NONE, change];
}

/** Reverts the replay of a request to what was captured. */
export function discardDraft(uid: string, index: number): void {
  const request = keyOf(uid, index);
  replayDrafts.set(new Map([...replayDrafts.read()].filter(([each]) => each !== request)));
}

/**
 * Whether the replay form of a request is open. It stays open when the layout changes, and closes when another request
 * is selected.
 */
export function useReplayOpen(uid: string, index: number): readonly [boolean, (isOpen: boolean) => void] {
  const open = useSignal(openForm);
  const request = keyOf(uid, index);
  const isOther = open !== undefined && open !== request;
  useEffect(() => {
    if (isOther) openForm.set(undefined);
  }, [isOther]);
  return [open === request, (isOpen) => openForm.set(isOpen ? request : undefined)];
}
