/* oxlint-disable jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable by keyboard */
import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { ArrowLeft } from 'lucide-react';
import { useRef, useState } from 'react';
import { labelOf } from '../../../api/request-list.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { readable } from '../../../bodies/encoding.ts';
import { MethodBadge, RequestNumber } from '../../../ui/badges.tsx';
import { Button } from '../../../ui/button.tsx';
import { useCommands } from '../../../ui/commands.ts';
import { EmptyState, Skeleton } from '../../../ui/feedback.tsx';
import { useFocusOnMount } from '../../../ui/focus.ts';
import { formatClock, formatMoment } from '../../../ui/format.ts';
import { compareQuery } from './compare-query.ts';
import type { Comparison } from './compare-query.ts';
import { BodyDiff, DiffTitle, FieldDiffTable } from './diff-tables.tsx';
import type { FieldDiff } from './diff.ts';
import { RequestPicker } from './request-picker.tsx';

interface CompareViewProps {
  readonly uid: string;
  readonly left: ListedRequest;
  readonly right: ListedRequest;
  readonly onLeft: (index: number) => void;
  readonly onRight: (index: number) => void;
  readonly onClose: () => void;
}

/** Two requests side by side, with the differences in their lines, headers and bodies. */
export function CompareView({ uid, left, right, onLeft, onRight, onClose }: CompareViewProps) {
  const [onlyChanges, setOnlyChanges] = useState(true);
  const [sortsKeys, setSortsKeys] = useState(false);
  const [picking, setPicking] = useState<'left' | 'right'>();
  const { data, isError } = useQuery({
    ...compareQuery(uid, left, right, sortsKeys),
    // The bodies stay while only their order changes.
    placeholderData: (before) => (before?.left === left.index && before.right === right.index ? before : undefined),
  });
  const view = useRef<HTMLElement>(null);
  useFocusOnMount(view);
  useCommands([
    { id: 'compare.close', title: 'Leave Compare', group: 'Request', keys: 'Escape', inPalette: false, run: onClose },
    {
      id: 'compare.choose',
      title: 'Choose the left request',
      group: 'Request',
      keys: '/',
      run: () => setPicking('left'),
    },
  ]);
  return (
    <section
      ref={view}
      tabIndex={-1}
      aria-label="Compare requests"
      className="flex outline-offset-[-2px] h-full min-h-0 flex-col"
    >
      <header className="flex shrink-0 flex-wrap items-center gap-3 border-b border-line px-4 py-2">
        <Button size="sm" onClick={onClose}>
          <ArrowLeft /> Back
        </Button>
        <h2 className="font-semibold">Compare</h2>
        <div className="ml-auto flex flex-wrap gap-x-4">
          {/* Invisible until the bodies are known to be JSON, but never absent, so that nothing moves. */}
          <span className={clsx(data?.isJson !== true && 'invisible')}>
            <Option label="Ignore key order" checked={sortsKeys} onChange={setSortsKeys} />
          </span>
          <Option label="Only differences" checked={onlyChanges} onChange={setOnlyChanges} />
        </div>
      </header>
      <div className="grid shrink-0 grid-cols-2 border-b border-line">
        <Side label="Change the left request" request={left} onChange={() => setPicking('left')} />
        <Side label="Change the right request" request={right} onChange={() => setPicking('right')} />
      </div>
      {picking === undefined ? null : (
        <RequestPicker
          uid={uid}
          title={`Choose the ${picking} request`}
          onChoose={(index) => {
            setPicking(undefined);
            (picking === 'left' ? onLeft : onRight)(index);
          }}
          onClose={() => setPicking(undefined)}
        />
      )}
      <div
        role="region"
        aria-label="Differences"
        tabIndex={0}
        className="min-h-0 grow overflow-auto outline-offset-[-2px]"
      >
        {isError ? (
          <EmptyState error title="The requests could not be compared">
            One of them may no longer be stored.
          </EmptyState>
        ) : null}
        {data === undefined && !isError ? <Skeleton className="m-4 h-40" /> : null}
        {data === undefined ? null : <Difference comparison={data} onlyChanges={onlyChanges} />}
      </div>
    </section>
  );
}

function Difference({ comparison, onlyChanges }: { readonly comparison: Comparison; readonly onlyChanges: boolean }) {
  const { line, query, headers, body } = comparison;
  const wanted = (fields: readonly FieldDiff[]) => (onlyChanges ? fields.filter(({ same }) => !same) : fields);
  return (
    <>
      <FieldDiffTable title="Request" fields={wanted(line)} none="Method and path are the same." />
      {query.length === 0 ? null : (
        <FieldDiffTable title="Query Params" fields={wanted(query)} none="The query parameters are the same." />
      )}
      <FieldDiffTable title="Headers" fields={wanted(headers)} none="The headers are the same." />
      <DiffTitle>Body</DiffTitle>
      <BodyDiff {...body} onlyChanges={onlyChanges} />
    </>
  );
}

interface OptionProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

function Option({ label, checked, onChange }: OptionProps) {
  return (
    <label className="flex items-center gap-2 text-sm pointer-coarse:min-h-11">
      <input
        type="checkbox"
        className="accent-accent"
        checked={checked}
        onChange={(change) => onChange(change.target.checked)}
      />
      {label}
    </label>
  );
}

interface SideProps {
  readonly label: string;
  readonly request: ListedRequest;
  readonly onChange: () => void;
}

function Side({ label, request, onChange }: SideProps) {
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 border-line px-4 py-2 not-first:border-l sm:flex-nowrap">
      <MethodBadge method={request.method} className="shrink-0" />
      <span className="min-w-0 grow basis-24 truncate font-mono text-sm sm:basis-0">
        {readable(request.path)} <span className="text-ink-2">{labelOf(request).event}</span>
      </span>
      <span className="flex shrink-0 gap-2 text-sm text-ink-2">
        <RequestNumber index={request.index} />
        <time dateTime={request.timestamp} title={formatMoment(request.timestamp)} className="max-lg:hidden">
          {formatClock(request.timestamp)}
        </time>
      </span>
      <Button size="sm" aria-label={label} onClick={onChange}>
        Change
      </Button>
    </div>
  );
}
