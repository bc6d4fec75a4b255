import { ApiError, isEndOfSession } from '@creel/contract';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { errorMessage, isEndpointDeleted } from '../../api/client.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { Badge, RequestNumber } from '../../ui/badges.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ProgressBar, SettledStatus } from '../../ui/progress.tsx';
import { Field, Select, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { counted, formatCount, formatRoughDuration } from '../../ui/format.ts';
import { currentTime, useNow } from '../../ui/state.ts';
import { askBeforeLeaving } from '../../ui/before-leaving.ts';
import {
  baseMistake,
  countStatuses,
  MAX_RECENT,
  PACES,
  remainingMs,
  replayBelow,
  sleep,
  suggestedBase,
  urlBelow,
} from './bulk-replay.ts';
import type { BulkResult } from './bulk-replay.ts';
import { lastTargetPreference } from './replay-targets.ts';
import { toastError } from '../../ui/toast-store.ts';

interface BulkReplayDialogProps {
  readonly uid: string;
  readonly requests: readonly ListedRequest[];
  readonly onClose: () => void;
}

type Phase = 'asking' | 'sending' | 'stopped' | 'done';

/** Maximum number of requests without success that are listed. */
const MAX_LISTED = 100;

/** Replays requests one after the other, in the order of capture, and counts the statuses. */
export function BulkReplayDialog({ uid, requests, onClose }: BulkReplayDialogProps) {
  // The marks may change while they are sent.
  const [chosen] = useState(() => requests.toSorted((a, b) => a.index - b.index));
  const [base, setBase] = useState(() => suggestedBase(lastTargetPreference.read()[uid]));
  const [pace, setPace] = useState(0);
  const [mistake, setMistake] = useState<string>();
  const { phase, results, ends, failure, uncertain, send, stop } = useBulkRun(uid, chosen);
  const [first] = chosen;
  const onSubmit = (): void => {
    // Enter in the only text field submits also without a submit button.
    if (phase === 'done') return;
    const found = baseMistake(base);
    setMistake(found);
    if (found === undefined) void send(base, pace);
  };
  const isSending = phase === 'sending';
  return (
    <Dialog
      // Escape or a press beside the dialog would otherwise end a long run and hide its progress.
      onClose={isSending ? stop : onClose}
      width="md"
      title={`Replay ${counted(chosen.length, 'request')}`}
      description="In the order of capture, one after the other, with their captured headers and bodies."
    >
      <Form failure={failure} onSubmit={onSubmit}>
        <TextField
          label="Destination"
          error={mistake}
          hint={
            first === undefined || base === '' || baseMistake(base) !== undefined
              ? 'Path and query of each request are added to this URL.'
              : `The first one goes to ${urlBelow(base, first)}`
          }
          data-first-focus
          isData
          value={base}
          onChange={(change) => {
            setBase(change.target.value);
            setMistake(undefined);
          }}
          // Disabled, it would lose the focus when Enter sends.
          readOnly={phase !== 'asking'}
          placeholder="http://localhost:3000"
        />
        <Field label="Pace">
          {(control) => (
            <Select
              {...control}
              value={pace}
              disabled={phase === 'sending' || phase === 'done'}
              onChange={({ target }) => setPace(Number(target.value))}
              className="max-w-56"
            >
              {PACES.map(({ ms, label }) => (
                <option key={ms} value={ms}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {phase === 'asking' ? null : (
          <Results phase={phase} results={results} all={chosen.length}>
            {isSending ? <Remaining ends={ends} left={chosen.length - results.length} /> : null}
            {phase === 'stopped' && uncertain !== undefined ? (
              <p className="text-ink-2">
                The destination may have received <RequestNumber index={uncertain.index} />. Continue sends it again.
              </p>
            ) : null}
          </Results>
        )}
        <div className="flex justify-end gap-2">
          {phase === 'done' ? null : isSending ? (
            <Button onClick={stop}>Stop</Button>
          ) : (
            <Button onClick={onClose}>{phase === 'asking' ? 'Cancel' : 'Close'}</Button>
          )}
          {/* At the end the same element closes the dialog, so that it keeps the focus. */}
          {phase === 'done' ? (
            <Button onClick={onClose}>Close</Button>
          ) : (
            <Button type="submit" variant="primary" busy={isSending}>
              {phase === 'asking' ? 'Send' : isSending ? 'Sending…' : 'Continue'}
            </Button>
          )}
        </div>
      </Form>
    </Dialog>
  );
}

/** Why a run stops if its dialog closes with the page, for example because the endpoint was deleted elsewhere. */
const DIALOG_CLOSED = Symbol('dialog closed');

/** Replays requests one after the other, from where the last run was stopped. */
function useBulkRun(uid: string, requests: readonly ListedRequest[]) {
  const [phase, setPhase] = useState<Phase>('asking');
  const [results, setResults] = useState<readonly BulkResult[]>([]);
  const [ends, setEnds] = useState<readonly number[]>([]);
  const [failure, setFailure] = useState<string>();
  const [uncertain, setUncertain] = useState<ListedRequest>();
  const controller = useRef<AbortController>(undefined);
  // Stops when the dialog closes, because the user could not stop it afterwards.
  useEffect(() => () => controller.current?.abort(DIALOG_CLOSED), []);
  useEffect(() => (phase === 'sending' ? askBeforeLeaving() : undefined), [phase]);

  const send = async (base: string, pace: number): Promise<void> => {
    const run = new AbortController();
    controller.current = run;
    let sent = results.filter(({ isSent }) => isSent).length;
    let inFlight: ListedRequest | undefined;
    setPhase('sending');
    setFailure(undefined);
    setEnds([currentTime()]);
    try {
      for (const [position, request] of requests.slice(results.length).entries()) {
        if (position > 0 && pace > 0) await sleep(pace, run.signal);
        if (run.signal.aborted) break;
        inFlight = request;
        const result = await replayBelow(uid, request, base, run);
        if (result === undefined) continue;
        inFlight = undefined;
        if (result.isSent) sent++;
        setResults((before) => [...before, result]);
        setEnds((before) => [...before.slice(-MAX_RECENT), currentTime()]);
      }
    } catch (error) {
      // Our server sends a code, and rejects a replay only before it is sent.
      if (error instanceof ApiError && error.code !== undefined) inFlight = undefined;
      // The page closes the dialog as soon as it knows that the endpoint was deleted.
      run.abort(isEndpointDeleted(error) ? DIALOG_CLOSED : undefined);
      // The login dialog reports the end of the session.
      if (!isEndOfSession(error)) setFailure(errorMessage(error, 'The requests could not be sent. Please try again.'));
    }
    if (run.signal.reason === DIALOG_CLOSED)
      toastError(`${formatCount(sent)} of ${counted(requests.length, 'request')} sent.`, { title: 'Replay stopped' });
    setUncertain(inFlight);
    setPhase(run.signal.aborted ? 'stopped' : 'done');
  };
  return { phase, results, ends, failure, uncertain, send, stop: () => controller.current?.abort() };
}

interface RemainingProps {
  /** When the run started, then when each of the latest results arrived, in milliseconds since 1970. */
  readonly ends: readonly number[];
  readonly left: number;
}

/** `about 2 min left`, after the first results. */
function Remaining({ ends, left }: RemainingProps) {
  const remaining = remainingMs(ends, left, useNow());
  if (remaining === undefined) return null;
  return <span className="text-ink-2">about {formatRoughDuration(Math.ceil(remaining / 1000) * 1000)} left</span>;
}

interface ResultsProps {
  readonly phase: Phase;
  readonly results: readonly BulkResult[];
  readonly all: number;
  /** Shown beside the counts. */
  readonly children: ReactNode;
}

function Results({ phase, results, all, children }: ResultsProps) {
  const failures = results.filter(({ tone }) => tone !== 'success');
  const tried = results.filter(({ isSent }) => isSent);
  const sent = `${phase === 'stopped' ? 'Stopped: ' : ''}${formatCount(tried.length)} of ${formatCount(all)} sent`;
  const counts = countStatuses(tried).map(({ status, count, tone }) => ({
    tone,
    text: `${status ?? 'No response'} × ${formatCount(count)}`,
  }));
  const unsent = results.length - tried.length;
  if (unsent > 0) counts.push({ tone: 'destructive', text: `Not sent × ${formatCount(unsent)}` });
  return (
    <section aria-label="Results" className="flex flex-col gap-2">
      <ProgressBar label="Progress" value={results.length} max={all} className="w-full" />
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p aria-hidden className="flex flex-wrap items-center gap-2">
          <span className="mr-1">{sent}</span>
          {counts.map(({ tone, text }) => (
            <Badge key={text} tone={tone}>
              {text}
            </Badge>
          ))}
        </p>
        {children}
      </div>
      <SettledStatus text={[sent, ...counts.map(({ text }) => text)].join(', ')} />
      {failures.length === 0 ? null : (
        <ul className="max-h-48 overflow-y-auto rounded-md border border-line">
          {failures.slice(0, MAX_LISTED).map(({ request, label, tone }) => (
            <li
              key={request.index}
              className="flex min-w-0 flex-wrap gap-x-2 border-line px-3 py-1.5 not-first:border-t"
            >
              <span className="min-w-0 grow truncate font-mono">
                <RequestNumber index={request.index} /> {request.method} {request.path}
              </span>
              <span className={tone === 'destructive' ? 'text-bad' : 'text-warn'}>{label}</span>
            </li>
          ))}
          {failures.length <= MAX_LISTED ? null : (
            <li className="border-t border-line px-3 py-1.5 text-ink-2">
              and {formatCount(failures.length - MAX_LISTED)} more
            </li>
          )}
        </ul>
      )}
    </section>
  );
}
