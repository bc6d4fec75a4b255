import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useState } from 'react';
import type { KeyboardEvent } from 'react';
import { IconButton } from '../ui/button.tsx';
import { isOfInputMethod } from '../ui/commands.ts';
import { MAX_FOUND } from './find-text.ts';

/** The search within a view. */
export interface Find {
  /** `undefined` while it is closed. */
  readonly text: string | undefined;
  readonly change: (text: string | undefined) => void;
  /** More of the body is being loaded, so that a text may be found later. */
  readonly isLoading: boolean;
}

interface FindBarProps {
  readonly find: Find;
  /** Number of matches of `searched`. The search stops at `MAX_FOUND`. */
  readonly count: number;
  /** The text that was searched last. Behind the field while a large body is searched. */
  readonly searched: string;
  /** Missing if only the matches are shown, so that there is nothing to step through. */
  readonly steps?: Steps;
}

/** The field of an open search: Enter goes to the next match, Shift+Enter to the previous one, Escape closes. */
export function FindBar({ find: { text = '', change, isLoading }, count, searched, steps }: FindBarProps) {
  const onKey = (press: KeyboardEvent): void => {
    if (isOfInputMethod(press)) return;
    if (press.key === 'Enter') steps?.step(press.shiftKey ? -1 : 1);
    if (press.key === 'Escape') change(undefined);
  };
  const none = searched === text && !isLoading ? 'Not found' : '';
  const all = `${count}${count < MAX_FOUND ? '' : '+'}`;
  return (
    <div role="search" className="flex h-9 shrink-0 items-center gap-1 border-b border-line bg-sunk px-3">
      <input
        // The user opens this field with a shortcut or a button in order to type.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        type="text"
        value={text}
        aria-label="Search inside"
        placeholder="Search inside"
        onChange={({ target }) => change(target.value)}
        onKeyDown={onKey}
        className="h-7 min-w-0 grow bg-transparent text-sm outline-none"
      />
      <span role="status" className="shrink-0 text-sm text-ink-2">
        {text === '' ? '' : count > 0 ? `${steps ? `${steps.current + 1} of ` : ''}${all}` : none}
      </span>
      {steps === undefined ? null : (
        <>
          <IconButton label="Previous" icon={<ChevronUp />} disabled={count === 0} onClick={() => steps.step(-1)} />
          <IconButton label="Next" icon={<ChevronDown />} disabled={count === 0} onClick={() => steps.step(1)} />
        </>
      )}
      <IconButton label="Close search" icon={<X />} onClick={() => change(undefined)} />
    </div>
  );
}

type Steps = ReturnType<typeof useSteps>;

/** Steps through `count` matches, cyclically. `current` counts from 0. Starts over when the searched text changes. */
export function useSteps(count: number, about: string) {
  const [state, setState] = useState({ about, at: 0 });
  const current = state.about === about && state.at < count ? state.at : 0;
  return { current, step: (by: 1 | -1) => setState({ about, at: (current + by + count) % Math.max(count, 1) }) };
}
