/* oxlint-disable jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable by keyboard */
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ListedRequest } from '../../../api/request-list.ts';
import { readable } from '../../../bodies/wire-text.ts';
import { Button } from '../../../ui/button.tsx';
import { useCommands } from '../../../ui/commands.ts';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { useFocusReturn } from '../../../ui/focus.ts';
import { MethodBadge } from '../../../ui/method-badge.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { formatClock } from '../../../ui/times.ts';
import { listElement } from '../list/list-element.ts';
import { BodyDiff } from './body-diff.tsx';
import { compareQuery } from './compare-query.ts';
import type { Comparison } from './compare-query.ts';
import { sideBySide } from './diff.ts';
import type { FieldDiff } from './diff.ts';
import { FieldDiffTable } from './field-diff-table.tsx';

export interface CompareViewProps {
  readonly uid: string;
  readonly left: ListedRequest;
  readonly right: ListedRequest;
  /** Requests to choose from for either side. */
  readonly choices: readonly ListedRequest[];
  readonly onLeft: (index: number) => void;
  readonly onRight: (index: number) => void;
  readonly onClose: () => void;
}

/** Two requests side by side, with the differences in their lines, headers and bodies. */
export function CompareView({ uid, left, right, choices, onLeft, onRight, onClose }: CompareViewProps) {
  const [onlyChanges, setOnlyChanges] = useState(true);
  const { data, isError } = useQuery(compareQuery(uid, left, right));
  const view = useRef<HTMLElement>(null);
  useFocusReturn(listElement);
  useEffect(() => view.current?.focus(), []);
  useCommands([
    { id: 'compare.close', title: 'Leave Compare', group: 'Request', keys: 'Escape', inPalette: false, run: onClose },
  ]);
  return (
    <section
      ref={view}
      tabIndex={-1}
      aria-label="Compare requests"
      className="flex outline-none h-full min-h-0 flex-col"
    >
      <header className="flex shrink-0 flex-wrap items-center gap-3 border-b border-line px-4 py-2">
        <Button size="sm" onClick={onClose}>
          <ArrowLeft /> Back
        </Button>
        <h2 className="font-semibold">Compare</h2>
        <label className="ml-auto flex items-center gap-2 text-sm">
          <input
            type="checkbox"
            className="accent-accent"
            checked={onlyChanges}
            onChange={(change) => setOnlyChanges(change.target.checked)}
          />
          Only differences
        </label>
      </header>
      <div className="grid shrink-0 grid-cols-2 border-b border-line">
        <Side label="Left request" request={left} choices={choices} onChoose={onLeft} />
        <Side label="Right request" request={right} choices={choices} onChoose={onRight} />
      </div>
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
      <h3 className="border-b border-line bg-sunk px-4 py-1.5 text-sm font-medium text-ink-2">Body</h3>
      {body === undefined ? (
        <p className="px-4 py-3 text-ink-2">{comparison.sentence}</p>
      ) : (
        <BodyDiff rows={sideBySide(body)} onlyChanges={onlyChanges} />
      )}
    </>
  );
}

interface SideProps {
  readonly label: string;
  readonly request: ListedRequest;
  readonly choices: readonly ListedRequest[];
  readonly onChoose: (index: number) => void;
}

function Side({ label, request, choices, onChoose }: SideProps) {
  const options = choices.some(({ index }) => index === request.index) ? choices : [request, ...choices];
  return (
    <div className="flex min-w-0 items-center gap-2 border-line px-4 py-2 not-first:border-l">
      <MethodBadge method={request.method} className="shrink-0" />
      <select
        aria-label={label}
        value={request.index}
        onChange={(change) => onChoose(Number(change.target.value))}
        className="h-7 min-w-0 grow truncate rounded-md border border-line-strong bg-panel px-2 font-mono text-sm"
      >
        {options.map((choice) => (
          <option key={choice.index} value={choice.index}>
            #{choice.index} {choice.method} {readable(choice.path)} {formatClock(choice.timestamp)}
          </option>
        ))}
      </select>
    </div>
  );
}
