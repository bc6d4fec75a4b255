import { clsx } from 'clsx';
import { useRef } from 'react';
import type { KeyboardEvent, PointerEvent, ReactNode } from 'react';
import { paneSizesPreference, usePreference } from '../../preferences/preferences.ts';

/** The left pane's share of the width: where it begins, and how far it goes. */
const DEFAULT_SHARE = 0.505;
const LEAST = 0.25;
const MOST = 0.75;
const KEY_STEP = 0.02;

const clamp = (share: number): number => Math.min(MOST, Math.max(LEAST, share));

export interface SplitPaneProps {
  /** Under this name the share is remembered. */
  readonly name: string;
  /** What the divider divides, for screen readers. */
  readonly label: string;
  readonly left: ReactNode;
  readonly right: ReactNode;
}

/** Two panes with a divider that can be dragged, or moved with the arrow keys; a double click puts it back. */
export function SplitPane({ name, label, left, right }: SplitPaneProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [sizes, setSizes] = usePreference(paneSizesPreference);
  const share = clamp(sizes[name] ?? DEFAULT_SHARE);
  const setShare = (wanted: number): void => setSizes({ ...sizes, [name]: clamp(wanted) });
  const drag = (pointer: PointerEvent<HTMLDivElement>): void => {
    if (!pointer.currentTarget.hasPointerCapture(pointer.pointerId) || frame.current === null) return;
    const box = frame.current.getBoundingClientRect();
    setShare((pointer.clientX - box.left) / box.width);
  };
  const onKey = (press: KeyboardEvent): void => {
    const step = press.key === 'ArrowLeft' ? -KEY_STEP : press.key === 'ArrowRight' ? KEY_STEP : undefined;
    if (step === undefined) return;
    press.preventDefault();
    setShare(share + step);
  };
  return (
    <div ref={frame} className="flex h-full min-h-0 min-w-0">
      <div className="min-w-0 shrink-0" style={{ width: `${share * 100}%` }}>
        {left}
      </div>
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label={label}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={LEAST * 100}
        aria-valuemax={MOST * 100}
        tabIndex={0}
        onPointerDown={(pointer) => pointer.currentTarget.setPointerCapture(pointer.pointerId)}
        onPointerMove={drag}
        onKeyDown={onKey}
        onDoubleClick={() => setShare(DEFAULT_SHARE)}
        className={clsx(
          'relative z-10 w-px shrink-0 cursor-col-resize touch-none bg-line transition-colors hover:bg-accent focus-visible:bg-accent',
          'before:absolute before:inset-y-0 before:-left-1 before:w-2',
        )}
      />
      <div className="min-w-0 grow">{right}</div>
    </div>
  );
}
