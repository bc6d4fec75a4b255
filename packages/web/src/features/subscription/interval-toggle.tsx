import { PLANS, yearlySavingPercent } from '@creel/contract';
import type { BillingInterval } from '@creel/contract';
import { RadioGroup } from 'radix-ui';
import { INTERVAL_LABELS } from './subscription-labels.ts';

const INTERVALS: readonly BillingInterval[] = ['monthly', 'yearly'];

/** Percent that a year saves at most, over all plans. */
const SAVING = Math.max(...Object.values(PLANS).map(yearlySavingPercent));

export interface IntervalToggleProps {
  readonly value: BillingInterval;
  readonly onChange: (interval: BillingInterval) => void;
}

/** Monthly or yearly prices. */
export function IntervalToggle({ value, onChange }: IntervalToggleProps) {
  return (
    <RadioGroup.Root
      aria-label="Billing interval"
      value={value}
      onValueChange={(chosen) => onChange(chosen === 'yearly' ? 'yearly' : 'monthly')}
      className="inline-flex self-start rounded-md border border-line-strong bg-panel p-0.5"
    >
      {INTERVALS.map((interval) => (
        <RadioGroup.Item
          key={interval}
          value={interval}
          className="flex h-7 items-center gap-1.5 rounded-sm px-3 font-medium text-ink-2 transition-colors duration-100 hover:text-ink data-[state=checked]:bg-accent-soft data-[state=checked]:text-accent"
        >
          {INTERVAL_LABELS[interval]}
          {interval === 'yearly' ? <span className="font-normal">Save {SAVING}%</span> : null}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}
