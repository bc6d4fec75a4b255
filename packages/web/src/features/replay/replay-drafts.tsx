import { createContext, use, useCallback, useEffect, useMemo, useState } from 'react';
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

interface DraftsContext {
  readonly drafts: ReplayDrafts;
  readonly setDrafts: Dispatch<SetStateAction<ReplayDrafts>>;
  /** Index of the request whose replay form is open. */
  readonly open: number | undefined;
  readonly setOpen: (index: number | undefined) => void;
  readonly editor: BodyEditor | undefined;
  readonly setEditor: (editor: BodyEditor | undefined) => void;
}

/** The large editor of a body, with the text that is not applied yet. */
interface BodyEditor {
  /** Of the request. */
  readonly index: number;
  readonly text: string;
}

const NONE: ReplayDraft = {};
const Context = createContext<DraftsContext>({
  drafts: new Map(),
  setDrafts: () => undefined,
  open: undefined,
  setOpen: () => undefined,
  editor: undefined,
  setEditor: () => undefined,
});

/** Keeps the drafts of an endpoint while the user looks at other requests. */
export function ReplayDraftsProvider({ children }: { readonly children: ReactNode }) {
  const [drafts, setDrafts] = useState<ReplayDrafts>(new Map());
  const [open, setOpen] = useState<number>();
  const [editor, setEditor] = useState<BodyEditor>();
  const value = useMemo(() => ({ drafts, setDrafts, open, setOpen, editor, setEditor }), [drafts, open, editor]);
  return <Context value={value}>{children}</Context>;
}

/** The draft of a request and a function to change it. `undefined` reverts to the captured value. */
export function useReplayDraft(index: number): readonly [ReplayDraft, (change: ReplayDraft) => void] {
  const { drafts, setDrafts } = use(Context);
  const change = useCallback(
    (part: ReplayDraft) => setDrafts((before) => withDraft(before, index, part)),
    [setDrafts, index],
  );
  return [drafts.get(index) ?? NONE, change];
}

/** The text in the large editor of a request's body, `undefined` while it is closed. It stays when the layout changes. */
export function useBodyEditor(index: number): readonly [string | undefined, (text: string | undefined) => void] {
  const { editor, setEditor } = use(Context);
  const edit = (text: string | undefined): void => setEditor(text === undefined ? undefined : { index, text });
  return [editor?.index === index ? editor.text : undefined, edit];
}

/**
 * Whether the replay form of a request is open. It stays open when the layout changes, and closes when another request
 * is selected.
 */
export function useReplayOpen(index: number): readonly [boolean, (isOpen: boolean) => void] {
  const { open, setOpen } = use(Context);
  const isOther = open !== undefined && open !== index;
  useEffect(() => {
    if (isOther) setOpen(undefined);
  }, [isOther, setOpen]);
  return [open === index, (isOpen) => setOpen(isOpen ? index : undefined)];
}
