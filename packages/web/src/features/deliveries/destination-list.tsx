import { MAX_DESTINATIONS, isDelivered } from '@creel/contract';
import type { Destination } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { Forward, Plus, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { errorMessage, failureOf } from '../../api/client.ts';
import { readList } from '../../api/list-cache.ts';
import { useSigning } from '../../api/queries.ts';
import { Badge } from '../../ui/badges.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { EmptyState, LoadError, Loading, Notice } from '../../ui/feedback.tsx';
import { keepsFocus } from '../../ui/focus.ts';
import { Switch } from '../../ui/switch.tsx';
import { formatDuration, statusLine, timeAgo } from '../../ui/format.ts';
import { useNow } from '../../ui/state.ts';
import { deletionSentence, outcomeLabel, stateLabel, waitingLabel } from './delivery-labels.ts';
import {
  destinationsQuery,
  useChangeDestination,
  useDeleteDestination,
  useTestDestination,
} from './delivery-queries.ts';

interface DestinationListProps {
  readonly uid: string;
  /** The destination, or `new` for the button that adds one, that gets the focus when a dialog opens with the list. */
  readonly firstFocus: Destination['id'] | 'new' | undefined;
  readonly onAdd: () => void;
  readonly onEdit: (destination: Destination) => void;
}

/** The destinations of an endpoint with their states. */
export function DestinationList({ uid, firstFocus, onAdd, onEdit }: DestinationListProps) {
  const loaded = useQuery(destinationsQuery(uid));
  const destinations = loaded.data;
  if (destinations === undefined) {
    if (loaded.isError) return <LoadError title="The destinations could not be loaded" {...failureOf(loaded)} />;
    return <Loading label="Loading the destinations" bars={['h-20', 'h-20']} className="gap-3" />;
  }
  const isFull = destinations.length >= MAX_DESTINATIONS;
  const add = (
    <Button variant="primary" disabled={isFull} data-first-focus={firstFocus === 'new' || undefined} onClick={onAdd}>
      <Plus /> Add destination
    </Button>
  );
  if (destinations.length === 0) {
    return (
      <EmptyState icon={<Forward />} title="No destinations yet" actions={add} className="py-8!">
        The server sends each new capture on to a destination, byte for byte, and tries again for up to 9 hours if it
        fails.
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      <ul aria-label="Destinations" className="flex flex-col gap-2">
        {destinations.map((destination) => (
          <DestinationCard
            key={destination.id}
            uid={uid}
            destination={destination}
            isFirstFocus={destination.id === firstFocus}
            onEdit={() => onEdit(destination)}
          />
        ))}
      </ul>
      <div className="flex flex-wrap items-center justify-end gap-3">
        {isFull ? (
          <p className="grow text-sm text-ink-2">
            An endpoint can have at most {MAX_DESTINATIONS} destinations. Delete one to add another.
          </p>
        ) : null}
        {add}
      </div>
    </div>
  );
}

interface DestinationCardProps {
  readonly uid: string;
  readonly destination: Destination;
  readonly isFirstFocus: boolean;
  readonly onEdit: () => void;
}

/** A destination: where, its state, its latest statuses, and what can be done with it. */
function DestinationCard({ uid, destination, isFirstFocus, onEdit }: DestinationCardProps) {
  const { id, url, appendPath, enabled, query, sign, state, pending } = destination;
  const change = useChangeDestination(uid, id);
  const test = useTestDestination(uid, destination);
  const remove = useDeleteDestination(uid, id);
  const [isDeleting, setDeleting] = useState(false);
  const now = useNow();
  const label = stateLabel(destination);
  const [newest] = readList(uid).rows;
  const isPaused = enabled && state.name === 'paused';
  const facts = [
    query === '' ? 'All captures' : undefined,
    appendPath ? 'path appended' : undefined,
    sign ? 'signed again' : undefined,
    waitingLabel(pending),
  ].filter((fact) => fact !== undefined);
  return (
    <li
      aria-label={url}
      // "Resume" removes itself.
      {...keepsFocus('[role="switch"]')}
      className="flex flex-col gap-1.5 rounded-md border border-line p-3 outline-none"
    >
      <div className="flex min-w-0 items-start gap-2.5">
        <Switch
          aria-label={`Forward to ${url}`}
          checked={enabled}
          busy={change.isPending}
          onCheckedChange={(isOn) => change.mutate({ enabled: isOn })}
        />
        {/* Destinations often differ only at their ends. */}
        <span className="line-clamp-6 min-w-0 grow font-mono text-sm wrap-anywhere" title={url}>
          {url}
        </span>
        <Badge tone={label.tone}>{label.text}</Badge>
      </div>
      <p className="flex min-w-0 flex-wrap gap-x-2 text-sm text-ink-2">
        {query === '' ? null : <code className="min-w-0 wrap-anywhere">{query}</code>}
        {facts.length === 0 ? null : <span>{facts.join(' · ')}</span>}
      </p>
      <RecentStatuses statuses={destination.recentStatuses} />
      {isPaused ? (
        <Notice tone="warn">
          <p>{state.reason}</p>
          <p>Paused {timeAgo(state.since, now)}. Waiting deliveries are sent when you resume it.</p>
          <Button size="sm" className="mt-2" busy={change.isPending} onClick={() => change.mutate({ enabled: true })}>
            Resume
          </Button>
        </Notice>
      ) : null}
      {sign ? <UnsignableNotice uid={uid} /> : null}
      <Failure what="The destination could not be changed." error={change.error} />
      <Failure what="The destination could not be deleted." error={remove.error} />
      <TestResult test={test} />
      <div className="flex flex-wrap items-center gap-1">
        <Button
          size="sm"
          busy={test.isPending}
          reason={newest === undefined ? 'There is no request to test with' : undefined}
          onClick={() => newest && test.mutate(newest)}
        >
          {test.isPending ? 'Sending…' : 'Test with the newest request'}
        </Button>
        <div className="ml-auto flex gap-1">
          <IconButton
            label="Edit destination"
            icon={<Pencil />}
            data-first-focus={isFirstFocus || undefined}
            className="size-7"
            onClick={onEdit}
          />
          <IconButton
            label="Delete destination"
            icon={<Trash2 />}
            className="size-7"
            onClick={() => setDeleting(true)}
          />
        </div>
      </div>
      {isDeleting ? (
        <ConfirmDialog
          title="Delete destination"
          description={deletionSentence(url, pending)}
          confirmLabel="Delete"
          onConfirm={() => remove.mutate()}
          onClose={() => setDeleting(false)}
        />
      ) : null}
    </li>
  );
}

/** Shown while the endpoint has no secret that a destination could sign with. */
function UnsignableNotice({ uid }: { readonly uid: string }) {
  const signing = useSigning(uid);
  if (signing !== null) return null;
  return (
    <Notice tone="warn">
      <p>This endpoint has no signing secret, so nothing is sent. Set the secret, or turn off “Sign again”.</p>
      <Button size="sm" className="mt-2" onClick={() => runCommand(COMMAND_IDS.signing)}>
        Set signing secret
      </Button>
    </Notice>
  );
}

/** The latest attempts as marks, oldest first, and in words. */
function RecentStatuses({ statuses }: { readonly statuses: Destination['recentStatuses'] }) {
  const label = outcomeLabel(statuses);
  if (label === undefined) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-ink-2">
      <span aria-hidden className="flex items-center gap-0.5">
        {statuses.map((status, position) => (
          // A status has no identity besides its position.
          <span
            key={position}
            title={String(status ?? 'No response')}
            className={clsx('h-3 w-1 rounded-sm', isDelivered(status) ? 'bg-ok' : 'bg-bad')}
          />
        ))}
      </span>
      {label}
    </p>
  );
}

/** Names the action, because the messages of several actions can be shown, and their reasons are often the same. */
function Failure({ what, error }: { readonly what: string; readonly error: Error | null }) {
  if (error === null) return null;
  return (
    <Notice tone="bad">
      {what} {errorMessage(error, 'Please try again.')}
    </Notice>
  );
}

function TestResult({ test }: { readonly test: ReturnType<typeof useTestDestination> }) {
  if (test.isError) return <Failure what="The request could not be sent." error={test.error} />;
  if (test.data === undefined) return null;
  return (
    <Notice tone={isDelivered(test.data.status) ? 'good' : 'warn'}>
      The destination answered {statusLine(test.data)} in {formatDuration(test.data.durationMs)}.
    </Notice>
  );
}
