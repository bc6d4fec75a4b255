import { ApiError, isDelivered } from '@creel/contract';
import type { DeliveryAttempt, Destination } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { ChevronRight, RotateCw } from 'lucide-react';
import { useId, useMemo } from 'react';
import type { ReactNode } from 'react';
import { useResponseView } from '../../api/body-queries.ts';
import { errorMessage } from '../../api/client.ts';
import { queryKeys } from '../../api/query-client.ts';
import type { ReceivedResponse } from '../../bodies/response.ts';
import { Badge } from '../../ui/badges.tsx';
import { Button } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';
import { Notice } from '../../ui/feedback.tsx';
import { formatDuration, statusLine, formatInstant, shortAge } from '../../ui/format.ts';
import { useNow } from '../../ui/state.ts';
import { nextAttemptLabel, nextAttemptSentence, SENT_BY, waitingReason } from './delivery-labels.ts';
import { destinationsQuery, useSendAgain } from './delivery-queries.ts';
import { ResponseTabs } from '../../bodies/response-tabs.tsx';

interface RowProps {
  readonly uid: string;
  readonly attempt: DeliveryAttempt;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

interface AttemptRowProps extends RowProps {
  readonly index: number;
  readonly onReplay: () => void;
}

/** One line about an attempt, and below it, if it is open, the response and what can be done. */
export function AttemptRow(props: AttemptRowProps) {
  const { uid, attempt } = props;
  const { nextAttemptAt } = attempt;
  const destination = useDestination(uid, attempt);
  const now = useNow();
  return (
    <DeliveryRow
      {...props}
      badge={
        <Badge tone={isDelivered(attempt.status) ? 'success' : 'destructive'} className="font-mono">
          {attempt.status ?? 'Failed'}
        </Badge>
      }
      facts={
        <>
          {nextAttemptAt === null ? null : (
            <Badge tone="warning">{nextAttemptLabel(nextAttemptAt, destination, now)}</Badge>
          )}
          <span className="shrink-0 font-mono text-sm text-ink-2 @max-md:hidden">
            {formatDuration(attempt.durationMs)}
          </span>
          <time
            dateTime={attempt.at}
            title={formatInstant(attempt.at)}
            className="w-9 shrink-0 text-right font-mono text-sm text-ink-2"
          >
            {shortAge(attempt.at, now)}
          </time>
        </>
      }
    >
      <AttemptDetails {...props} destination={destination} />
    </DeliveryRow>
  );
}

/** The destination of a delivery that waits; `undefined` until it is loaded, and if none waits. */
function useDestination(uid: string, { destinationId, nextAttemptAt }: DeliveryAttempt): Destination | undefined {
  const { data } = useQuery({ ...destinationsQuery(uid), enabled: nextAttemptAt !== null });
  return nextAttemptAt === null ? undefined : data?.find(({ id }) => id === destinationId);
}

/** One line about a delivery that waits for its first attempt, and below it, if it is open, why. */
export function WaitingRow(props: RowProps) {
  return (
    <DeliveryRow {...props} badge={<Badge tone="warning">Waiting</Badge>}>
      <WaitingDetails {...props} />
    </DeliveryRow>
  );
}

interface DeliveryRowProps extends RowProps {
  readonly badge: ReactNode;
  readonly facts?: ReactNode;
  /** Shown while the row is open. */
  readonly children: ReactNode;
}

function DeliveryRow({ attempt, isOpen, onToggle, badge, facts, children }: DeliveryRowProps) {
  const id = useId();
  return (
    <li className="border-b border-line">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={onToggle}
        className="group flex min-h-9 w-full min-w-0 items-center gap-2 px-3 py-1 text-left outline-offset-[-2px] hover:bg-sunk pointer-coarse:min-h-12"
      >
        <ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-2 group-aria-expanded:rotate-90" />
        {badge}
        <span className="shrink-0 text-ink-2">{SENT_BY[attempt.kind]}</span>
        <span className="min-w-0 grow truncate font-mono text-sm" title={attempt.url}>
          {attempt.url}
        </span>
        {facts}
      </button>
      {isOpen ? (
        <div id={id} className="flex flex-col gap-2 pb-3">
          {children}
        </div>
      ) : null}
    </li>
  );
}

function WaitingDetails({ uid, attempt }: RowProps) {
  const destination = useDestination(uid, attempt);
  return (
    <>
      <FactLine attempt={attempt}>
        <span className="text-ink">Waiting for the first attempt</span>
      </FactLine>
      <p className="px-4 text-sm text-ink-2">{waitingReason(destination)}</p>
      <div className="px-4">
        <Button size="sm" onClick={() => runCommand(COMMAND_IDS.forward)}>
          Show destinations
        </Button>
      </div>
    </>
  );
}

/** Facts about a delivery, and what is sent where. */
function FactLine({ attempt, children }: Pick<RowProps, 'attempt'> & { readonly children: ReactNode }) {
  return (
    <p className="flex min-w-0 flex-wrap gap-x-3 px-4 pt-1 font-mono text-sm text-ink-2">
      {children}
      <span className="min-w-0 wrap-anywhere">
        {attempt.method} {attempt.url}
      </span>
    </p>
  );
}

interface AttemptDetailsProps extends AttemptRowProps {
  /** The destination that the next attempt goes to, if it is loaded. */
  readonly destination: Destination | undefined;
}

function AttemptDetails({ uid, index, attempt, destination, onReplay }: AttemptDetailsProps) {
  const { kind, status, statusText, error, durationMs, at, nextAttemptAt } = attempt;
  const again = useSendAgain(uid, attempt);
  const now = useNow();
  const isForward = kind === 'forward';
  return (
    <>
      <FactLine attempt={attempt}>
        <span className="text-ink">{status === null ? 'No response' : statusLine({ status, statusText })}</span>
        <span>{formatDuration(durationMs)}</span>
        <span>attempt {attempt.attempt}</span>
        <time dateTime={at}>{formatInstant(at)}</time>
      </FactLine>
      {error === null ? null : (
        <Notice tone="warn" className="mx-4">
          {error}
        </Notice>
      )}
      {nextAttemptAt === null ? null : (
        <p className="px-4 text-sm text-ink-2">{nextAttemptSentence(nextAttemptAt, destination, now)}</p>
      )}
      <div className="flex flex-wrap items-center gap-2 px-4">
        {isForward && attempt.destinationId !== null ? (
          <Button size="sm" busy={again.isPending} onClick={() => again.mutate({ activate: false })}>
            <RotateCw /> {again.isPending ? 'Sending…' : 'Send again'}
          </Button>
        ) : null}
        <Button size="sm" onClick={onReplay}>
          Open in replay
        </Button>
        {isForward && attempt.destinationId === null ? (
          <span className="text-sm text-ink-2">Its destination is deleted, so it can only be replayed.</span>
        ) : null}
        <span role="status" className="text-sm text-ink-2 empty:hidden">
          {again.isSuccess ? 'Accepted. The new attempt appears above.' : ''}
        </span>
      </div>
      {again.isError ? (
        <Notice tone="bad" className="mx-4">
          <p>{errorMessage(again.error, 'It could not be sent again. Please try again.')}</p>
          <div className="mt-2 flex flex-wrap gap-2">
            {isForward && isRefused(again.error) ? (
              <Button size="sm" onClick={() => again.mutate({ activate: true })}>
                Activate and send again
              </Button>
            ) : null}
            <Button size="sm" onClick={() => runCommand(COMMAND_IDS.forward)}>
              Show destinations
            </Button>
          </div>
        </Notice>
      ) : null}
      {status === null ? null : <AttemptResponse uid={uid} index={index} attempt={attempt} />}
    </>
  );
}

/** True if the destination is off or paused. A deleted one has no button to send again. */
const isRefused = (error: Error): boolean => error instanceof ApiError && error.code === 'DELIVERY_NOT_RETRYABLE';

/** The stored part of a destination's response. */
function responseOf(attempt: DeliveryAttempt): ReceivedResponse {
  return {
    headers: attempt.responseHeaders,
    body: attempt.responseBody,
    bodyEncoding: attempt.responseBodyEncoding,
    bodyTruncated: attempt.responseTruncated,
  };
}

const CUT = 'Cut at 16 KiB: the destination sent more.';

/** The stored beginning of a destination's response, and its headers as received. */
function AttemptResponse({ uid, index, attempt }: Pick<AttemptRowProps, 'uid' | 'index' | 'attempt'>) {
  const response = useMemo(() => responseOf(attempt), [attempt]);
  const parsed = useResponseView(queryKeys.responseView(uid, index, attempt.id), response);
  return (
    <ResponseTabs
      label="Response of the destination"
      cut={attempt.responseTruncated ? CUT : undefined}
      {...parsed}
      className="mx-4 overflow-clip rounded-md border border-line"
    />
  );
}
