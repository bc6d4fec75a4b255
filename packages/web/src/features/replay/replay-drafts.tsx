import { createContext, use, useCallback, useEffect, useMemo, useState } from 'react';
import type { Dispatch, ReactNode, SetStateAction } from 'react';
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

/** Maximum of drafts. Edited bodies may be large. */
export const MAX_DRAFTS = 20;

/** Applies a change to a draft. `undefined` in a change reverts to the captured value. */
export function withDraft(drafts: ReplayDrafts, request: RequestKey, change: ReplayDraft): ReplayDrafts {
  const others = [...drafts].filter(([each]) => each !== request).slice(1 - MAX_DRAFTS);
  const draft = { ...drafts.get(request), ...change };
  return new Map(isChanged(draft) ? [...others, [request, draft]] : others);
}

interface DraftsContext {
  readonly drafts: ReplayDrafts;
  readonly setDrafts: Dispatch<SetStateAction<ReplayDrafts>>;
  /** The request whose replay form is open. */
  readonly open: RequestKey | undefined;
  readonly setOpen: (request: RequestKey | undefined) => void;
  readonly editor: BodyEditor | undefined;
  readonly setEditor: (editor: BodyEditor | undefined) => void;
}

/** The large editor of a body, with the text that is not applied yet. */
interface BodyEditor {
  readonly request: RequestKey;
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

/** Keeps the drafts while the user looks at other requests and pages. */
export function ReplayDraftsProvider({ children }: { readonly children: ReactNode }) {
  const [drafts, setDrafts] = useState<ReplayDrafts>(new Map());
  const [open, setOpen] = useState<RequestKey>();
  const [editor, setEditor] = useState<BodyEditor>();
  const value = useMemo(() => ({ drafts, setDrafts, open, setOpen, editor, setEditor }), [drafts, open, editor]);
  return <Context value={value}>{children}</Context>;
}

/** The draft of a request and a function to change it. `undefined` reverts to the captured value. */
export function useReplayDraft(uid: string, index: number): readonly [ReplayDraft, (change: ReplayDraft) => void] {
  const { drafts, setDrafts } = use(Context);
  const request = keyOf(uid, index);
  const change = useCallback(
    (part: ReplayDraft) => setDrafts((before) => withDraft(before, request, part)),
    [setDrafts, request],
  );
  return [drafts.get(request) ?? NONE, change];
}

/** The text in the large editor of a request's body, `undefined` while it is closed. It stays when the layout changes. */
export function useBodyEditor(
  uid: string,
  index: number,
): readonly [string | undefined, (text: string | undefined) => void] {
  const { editor, setEditor } = use(Context);
  const request = keyOf(uid, index);
  const edit = (text: string | undefined): void => setEditor(text === undefined ? undefined : { request, text });
  return [editor?.request === request ? editor.text : undefined, edit];
}

/**
 * Whether the replay form of a request is open. It stays open when the layout changes, and closes when another request
 * is selected.
 */
export function useReplayOpen(uid: string, index: number): readonly [boolean, (isOpen: boolean) => void] {
  const { open, setOpen } = use(Context);
  const request = keyOf(uid, index);
  const isOther = open !== undefined && open !== request;
  useEffect(() => {
    if (isOther) setOpen(undefined);
  }, [isOther, setOpen]);
  return [open === request, (isOpen) => setOpen(isOpen ? request : undefined)];
}
