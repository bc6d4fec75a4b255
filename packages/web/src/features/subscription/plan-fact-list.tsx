export interface PlanFactListProps {
  readonly facts: readonly { readonly name: string; readonly value: string }[];
}

/** What a plan allows, one fact per line. */
export function PlanFactList({ facts }: PlanFactListProps) {
  return (
    <dl className="flex flex-col gap-1.5">
      {facts.map(({ name, value }) => (
        <div key={name} className="flex justify-between gap-4">
          <dt className="text-ink-2">{name}</dt>
          <dd className="text-end font-medium">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
