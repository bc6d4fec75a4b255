import type { ReplayAnswer } from '@creel/contract';
import { memo, useMemo } from 'react';
import { useResponseView } from '../../api/body-queries.ts';
import { queryKeys } from '../../api/query-client.ts';
import { readable } from '../../bodies/encoding.ts';
import { ResponseTabs } from '../../bodies/response-tabs.tsx';
import { redirectOf, truncationNote } from '../../bodies/response.ts';
import { Badge } from '../../ui/badges.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice, Skeleton } from '../../ui/feedback.tsx';
import { formatSize, formatDuration, statusLine, statusTone } from '../../ui/format.ts';
import { replayFailure } from './replays.ts';
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
  return (
    <section aria-label="Response" className={state === undefined ? 'sr-only' : 'border-t border-line py-3'}>
      <p role="status" className="sr-only">
        {/* A toast announces the outcome. */}
        {state?.phase === 'sending' ? 'Sending the request.' : null}
      </p>
      {state?.phase === 'sending' ? (
        <div className="flex flex-col gap-2 px-4">
          <p className="text-ink-2">Waiting for the destination…</p>
          <Skeleton className="h-3 w-1/3" />
          <Skeleton className="h-3 w-2/3" />
        </div>
      ) : null}
      {state?.phase === 'canceled' ? (
        <Notice className="mx-4">Canceled. The destination may have received the request.</Notice>
      ) : null}
      {state?.phase === 'failed' ? (
        <Notice tone="bad" className="mx-4">
          {replayFailure(state.error)}
        </Notice>
      ) : null}
      {state?.phase === 'answered' ? (
        <AnswerView key={state.at} uid={uid} index={index} {...state} onUse={onUse} />
      ) : null}
    </section>
  );
});

interface AnswerViewProps {
  readonly uid: string;
  readonly index: number;
  readonly answer: ReplayAnswer;
  /** The URL that the request was sent to. */
  readonly url: string;
  readonly at: number;
  readonly onUse: (url: string) => void;
}

/** The response to a replay: status, duration, size, body, and headers as received. */
function AnswerView({ uid, index, answer, url, at, onUse }: AnswerViewProps) {
  // `at` distinguishes the response from earlier ones.
  const parsed = useResponseView(queryKeys.replayView(uid, index, at), answer);
  return (
    <>
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 px-4">
        <h4 className="font-medium">Response</h4>
        <Badge tone={statusTone(answer.status)} className="max-w-full">
          {/* The body says 'No content' already. */}
          <span className="truncate">{answer.status === 204 ? answer.status : statusLine(answer)}</span>
        </Badge>
        <span className="font-mono text-sm text-ink-2">{formatDuration(answer.durationMs)}</span>
        <span className="font-mono text-sm text-ink-2">{formatSize(parsed.size)}</span>
      </div>
      <RedirectNote answer={answer} url={url} onUse={onUse} />
      <ResponseTabs
        label="Response tabs"
        cut={truncationNote(answer, parsed.size)}
        {...parsed}
        className="mt-2 border-y border-line"
      />
    </>
  );
}

/** The target of a redirect. It is shown as text, not as a link, and never followed. */
function RedirectNote({ answer, url, onUse }: Pick<AnswerViewProps, 'answer' | 'url' | 'onUse'>) {
  const redirect = useMemo(() => redirectOf(answer, url), [answer, url]);
  if (redirect === undefined) return null;
  const { url: next } = redirect;
  return (
    <div className="mx-4 mt-2 flex flex-wrap items-center gap-2 rounded-md bg-warn-soft px-3 py-1.5">
      <p className="min-w-0 grow basis-60 wrap-anywhere">
        <span className="text-ink-2">Redirects are not followed.</span>{' '}
        <span className="text-warn">This one leads to</span>{' '}
        <code className="text-sm">{readable(redirect.location)}</code>
      </p>
      {next === undefined ? null : (
        <Button size="sm" onClick={() => onUse(next)}>
          Use as destination
        </Button>
      )}
    </div>
  );
}
