import type { ReactNode } from 'react';

export interface PlanSummaryProps {
  readonly heading: ReactNode;
  readonly note?: ReactNode;
  readonly facts: readonly { readonly name: string; readonly value: string }[];
}

/** A plan's name with what it allows. */
export function PlanSummary({ heading, note, facts }: PlanSummaryProps) {
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">{heading}</div>
      {note === undefined ? null : <p className="text-ink-2">{note}</p>}
      <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-6 gap-y-1.5">
        {facts.map(({ name, value }) => (
          <div key={name} className="contents">
            <dt className="text-ink-2">{name}</dt>
            <dd className="text-end font-medium">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
