import { clsx } from 'clsx';
import type { KeyboardEvent, PointerEvent } from 'react';
import { z } from 'zod';
import { storedValue, useSignal } from './state.ts';

/** Sizes of panes by name, as a share between 0 and 1. */
const paneSizesPreference = storedValue('paneSizes', z.record(z.string(), z.number().min(0).max(1)), {});

/** The initial size of a pane and its limits. */
interface PaneBounds {
  readonly initial: number;
  readonly min: number;
  readonly max: number;
}

/** The stored share of a pane, within its limits, and a function to change it: the props of a `PaneDivider`. */
export function usePaneShare(name: string, { initial, min, max }: PaneBounds) {
  const sizes = useSignal(paneSizesPreference);
  const limited = (share: number): number => Math.min(max, Math.max(min, share));
  const onShare = (wanted: number): void => paneSizesPreference.set({ ...sizes, [name]: limited(wanted) });
  return { share: limited(sizes[name] ?? initial), min, max, onShare, onReset: () => onShare(initial) };
}

const KEY_STEP = 0.02;

const LOOKS = {
  vertical: 'w-px cursor-col-resize before:inset-y-0 before:-left-1 before:w-2',
  horizontal: 'h-px cursor-row-resize before:inset-x-0 before:-top-1 before:h-2',
} as const;

interface PaneDividerProps extends ReturnType<typeof usePaneShare> {
  /** Orientation of the line. A vertical line divides left from right. */
  readonly orientation: keyof typeof LOOKS;
  /** What the divider divides, for screen readers. */
  readonly label: string;
  /** The element that is divided. */
  readonly frame: () => Element | null | undefined;
}

/** A divider between two panes that can be dragged or moved with the arrow keys. A double click resets it. */
export function PaneDivider(props: PaneDividerProps) {
  const { orientation, label, share, min, max, frame, onShare, onReset } = props;
  const isVertical = orientation === 'vertical';
  const drag = (pointer: PointerEvent<HTMLDivElement>): void => {
    const box = frame()?.getBoundingClientRect();
    if (!pointer.currentTarget.hasPointerCapture(pointer.pointerId) || box === undefined) return;
    onShare(isVertical ? (pointer.clientX - box.left) / box.width : (pointer.clientY - box.top) / box.height);
  };
  const onKey = (press: KeyboardEvent): void => {
    const [less, more] = isVertical ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    const step = press.key === less ? -KEY_STEP : press.key === more ? KEY_STEP : undefined;
    if (step === undefined) return;
    press.preventDefault();
    onShare(share + step);
  };
  return (
    <div
      role="separator"
      aria-orientation={orientation}
      aria-label={label}
      aria-valuenow={Math.round(share * 100)}
      aria-valuemin={min * 100}
      aria-valuemax={max * 100}
      tabIndex={0}
      onPointerDown={(pointer) => pointer.currentTarget.setPointerCapture(pointer.pointerId)}
      // Safari selects the text that a drag passes, even while the pointer is captured.
      onMouseDown={(press) => {
        press.preventDefault();
        press.currentTarget.focus();
      }}
      onPointerMove={drag}
      onKeyDown={onKey}
      onDoubleClick={onReset}
      className={clsx(
        'relative z-10 shrink-0 touch-none bg-line transition-colors hover:bg-accent focus-visible:bg-accent before:absolute',
        LOOKS[orientation],
      )}
    />
  );
}
