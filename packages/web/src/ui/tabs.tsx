import { clsx } from 'clsx';
import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

interface Tab<Value extends string> {
  readonly value: Value;
  readonly label: string;
  /** A number beside the label. It is not a part of the tab's name. */
  readonly count?: number;
  /** A mark beside the label. */
  readonly note?: ReactNode;
}

interface TabsProps<Value extends string> {
  readonly value: Value;
  readonly onValueChange: (value: Value) => void;
  readonly tabs: readonly Tab<Value>[];
  /** Name of the tab list, for screen readers. */
  readonly label: string;
  /** The `TabPanel`s. `className` applies to their container. */
  readonly children?: ReactNode;
  readonly className?: string;
  readonly listClassName?: string;
}

/** Tabs with their panels. */
export function Tabs<Value extends string>(props: TabsProps<Value>) {
  const { value, onValueChange, tabs, label, children, className, listClassName } = props;
  const choose = (chosen: string): void => {
    const tab = tabs.find((candidate) => candidate.value === chosen);
    if (tab !== undefined) onValueChange(tab.value);
  };
  // Tabs that work as a filter have no panels.
  const withoutPanel = children === undefined ? { 'aria-controls': undefined } : {};
  return (
    <Radix.Root value={value} onValueChange={choose} className={className}>
      <Radix.List aria-label={label} className={clsx('flex items-center gap-1 overflow-x-auto', listClassName)}>
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            // Radix focuses a pressed tab itself, which would show the focus ring of the keyboard.
            onMouseDown={(press) => press.currentTarget.focus({ focusVisible: false })}
            {...withoutPanel}
            data-count={tab.count}
            aria-description={tab.count?.toString()}
            className="h-7 shrink-0 rounded-md px-2 font-medium outline-offset-[-2px] text-ink-2 transition-colors duration-100 hover:text-ink data-[state=active]:bg-accent-soft data-[state=active]:text-accent data-count:after:ml-1 data-count:after:font-normal data-count:after:text-ink-3 data-count:after:content-[attr(data-count)/''] data-count:data-[state=active]:after:text-accent @max-md:data-count:after:content-none"
          >
            {tab.label}
            {tab.note === undefined ? null : (
              <span className="font-normal text-ink-3 @max-md:hidden in-data-[state=active]:text-accent">
                {' '}
                {tab.note}
              </span>
            )}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {children}
    </Radix.Root>
  );
}

interface TabPanelProps {
  readonly value: string;
  /** True if its content starts with something that takes the focus. Then the Tab key does not stop at the panel. */
  readonly hasControls?: boolean;
  readonly children: ReactNode;
  readonly className?: string;
}

/** The content of a tab. A panel with controls is not itself a stop for the Tab key. */
export function TabPanel({ value, hasControls = false, children, className }: TabPanelProps) {
  return (
    <Radix.Content
      value={value}
      {...(hasControls ? { tabIndex: -1 } : {})}
      className={clsx('outline-offset-[-2px]', className)}
    >
      {children}
    </Radix.Content>
  );
}
