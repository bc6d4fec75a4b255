import { replaySchema } from '@creel/contract';
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { useIsAnonymous } from '../../api/queries.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { fieldErrors, useFormErrors } from '../../ui/form.tsx';
import type { FieldErrors } from '../../ui/form.tsx';
import { useSignal } from '../../ui/state.ts';
import { completeUrl } from '../../ui/urls.ts';
import { useReplayDraft } from './replay-drafts.ts';
import { defaultForm, toReplayBody, withChanges } from './replay-form.ts';
import type { ReplayForm } from './replay-form.ts';
import { defaultUrl, lastTargetOf, placeholderNote, lastTargetPreference } from './replay-targets.ts';
import { sendReplay, useReplayState } from './replays.ts';
import type { ReplayState } from './replays.ts';

export type Replay = ReturnType<typeof useReplay>;

/** Validation messages of a form. Captured data must not reach a stranger, so the placeholder is refused. */
function mistakes(form: ReplayForm): FieldErrors {
  const note = placeholderNote(form.url);
  if (note !== undefined) return { url: note };
  return fieldErrors(replaySchema, toReplayBody(form, undefined));
}

/** The replay of a request: the form and the state of the last attempt. */
export function useReplay(uid: string, request: ListedRequest) {
  const [draft, change] = useReplayDraft(uid, request.index);
  const last = useSignal(lastTargetPreference)[uid];
  const defaults = useMemo(() => defaultForm(request, last), [request, last]);
  const form = useMemo(() => withChanges(defaults, draft), [defaults, draft]);
  const state = useReplayState(uid, request.index);
  const anonymous = useIsAnonymous();
  const url = completeUrl(form.url);
  const { rows: headers, ...others } = form;
  // By the field names of the contract.
  const { ref, errors, refuse, fail } = useFormErrors({ ...others, url, headers });

  const send = (): void => {
    if (anonymous || state?.phase === 'sending') return;
    const complete = { ...form, url };
    if (url !== form.url) change({ url });
    const found = mistakes(complete);
    if (Object.keys(found).length > 0) return refuse(found);
    void sendReplay(uid, request, complete).then((failure) => {
      // The response says it, too.
      if (failure !== undefined) return fail(failure, undefined);
      // Then the URL is the default and no change.
      if (defaultUrl(request, lastTargetOf(request, url)) === url) change({ url: undefined });
    });
  };
  return {
    form,
    /** Reverts the parts that are `undefined`. The function is stable. */
    change,
    /** Validation messages by the field names of the contract. */
    errors,
    state,
    /** True if the session has ended: nothing can be sent. */
    anonymous,
    formElement: ref,
    send,
  };
}

/** Calls back when a replay ends while the component is mounted. */
export function useOutcome(state: ReplayState | undefined, onOutcome: () => void): void {
  const before = useRef(state?.phase);
  const onEnd = useEffectEvent(onOutcome);
  useEffect(() => {
    const wasSending = before.current === 'sending';
    before.current = state?.phase;
    if (wasSending && state !== undefined && state.phase !== 'sending') onEnd();
  }, [state]);
}
