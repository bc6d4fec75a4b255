import { useRef } from 'react';
import type { ReactNode } from 'react';
import { paneSizesPreference, usePreference } from '../../preferences/preferences.ts';
import { PaneDivider } from '../../ui/pane-divider.tsx';

/** The left pane's share of the width: where it begins, and how far it goes. */
const DEFAULT_SHARE = 0.505;
const LEAST = 0.25;
const MOST = 0.75;

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
  const share = Math.min(MOST, Math.max(LEAST, sizes[name] ?? DEFAULT_SHARE));
  const setShare = (wanted: number): void => setSizes({ ...sizes, [name]: wanted });
  return (
    <div ref={frame} className="flex h-full min-h-0 min-w-0">
      <div className="min-w-0 shrink-0" style={{ width: `${share * 100}%` }}>
        {left}
      </div>
      <PaneDivider
        orientation="vertical"
        label={label}
        share={share}
        least={LEAST}
        most={MOST}
        frame={() => frame.current}
        onShare={setShare}
        onReset={() => setShare(DEFAULT_SHARE)}
      />
      <div className="min-w-0 grow">{right}</div>
    </div>
  );
}
