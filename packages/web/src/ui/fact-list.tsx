import type { ReactNode } from 'react';

export interface FactListProps {
  readonly facts: readonly { readonly name: string; readonly value: ReactNode }[];
}

/** Names and values, one pair per line. */
export function FactList({ facts }: FactListProps) {
  return (
    <dl className="flex flex-col gap-1.5">
      {facts.map(({ name, value }) => (
        <div key={name} className="flex justify-between gap-4">
          <dt className="text-ink-2">{name}</dt>
          <dd className="text-end font-medium wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
