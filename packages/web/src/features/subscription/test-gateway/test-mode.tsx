import type { ReactNode } from 'react';
import { Notice } from '../../../ui/notice.tsx';

/** Marks a page of the test gateway. */
export function TestModeNotice() {
  return <Notice tone="warn">Test mode, no card is charged.</Notice>;
}

export interface GatewayFactsProps {
  readonly facts: readonly { readonly name: string; readonly value: ReactNode }[];
}

/** What is bought, or what runs, in lines of name and value. */
export function GatewayFacts({ facts }: GatewayFactsProps) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2">
      {facts.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-ink-2">{name}</dt>
          <dd className="text-end font-medium wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
