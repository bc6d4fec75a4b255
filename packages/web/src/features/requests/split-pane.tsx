import { useRef } from 'react';
import type { ReactNode } from 'react';
import { usePaneShare, PaneDivider } from '../../ui/pane-divider.tsx';

/** The left pane's share of the width. */
const BOUNDS = { initial: 0.505, least: 0.25, most: 0.75 };

interface SplitPaneProps {
  /** The name under which the share is stored. */
  readonly name: string;
  /** What the divider divides, for screen readers. */
  readonly label: string;
  readonly left: ReactNode;
  readonly right: ReactNode;
}

/** Two panes with a divider that can be dragged or moved with the arrow keys. A double click resets it. */
export function SplitPane({ name, label, left, right }: SplitPaneProps) {
  const frame = useRef<HTMLDivElement>(null);
  const pane = usePaneShare(name, BOUNDS);
  return (
    <div ref={frame} className="flex h-full min-h-0 min-w-0">
      <div className="min-w-0 shrink-0" style={{ width: `${pane.share * 100}%` }}>
        {left}
      </div>
      <PaneDivider orientation="vertical" label={label} frame={() => frame.current} {...pane} />
      <div className="min-w-0 grow">{right}</div>
    </div>
  );
}
