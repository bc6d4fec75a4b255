export interface PlanFactListProps {
  readonly facts: readonly { readonly name: string; readonly value: string }[];
}

/** What a plan allows, one fact per line. */
export function PlanFactList({ facts }: PlanFactListProps) {
  return (
    <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1.5">
      {facts.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-ink-2">{name}</dt>
          <dd className="text-end font-medium">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
