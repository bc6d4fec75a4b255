import { memo, useEffect } from 'react';
import { Notice, Skeleton } from '../../ui/feedback.tsx';
import { AnswerView } from './answer-view.tsx';
import { REPLAY_FAILED, replayFailure, showReplayResult } from './replays.ts';
import type { ReplayState } from './replays.ts';

interface ReplayResponseProps {
  readonly uid: string;
  readonly index: number;
  readonly state: ReplayState | undefined;
  /** Puts a URL into the form. */
  readonly onUse: (url: string) => void;
}

/** The result of the last replay: the response, or why there is none. It stays while the form is edited. */
export const ReplayResponse = memo(function ReplayResponse({ uid, index, state, onUse }: ReplayResponseProps) {
  useEffect(() => showReplayResult(uid, index), [uid, index]);
  return (
    <section aria-label="Response" className={state === undefined ? 'sr-only' : 'border-t border-line py-3'}>
      <p role="status" className="sr-only">
        {/* The toast announces a response, and a failure is an alert. */}
        {state?.phase === 'sending' ? 'Sending the request.' : null}
      </p>
      {state?.phase === 'sending' ? (
        <div className="flex flex-col gap-2 px-4">
          <p className="text-ink-2">Waiting for the destination…</p>
          <Skeleton className="h-3 w-1/3" />
          <Skeleton className="h-3 w-2/3" />
        </div>
      ) : null}
      {state?.phase === 'cancelled' ? (
        <Notice className="mx-4">Canceled. The destination may have received the request.</Notice>
      ) : null}
      {state?.phase === 'failed' ? (
        <Notice tone="bad" className="mx-4">
          <p className="font-medium">{REPLAY_FAILED}</p>
          <p>{replayFailure(state.error)}</p>
        </Notice>
      ) : null}
      {state?.phase === 'answered' ? (
        <AnswerView key={state.at} uid={uid} index={index} {...state} onUse={onUse} />
      ) : null}
    </section>
  );
});
