import { useEffect, useMemo, useRef } from 'react';
import type { RequestActions } from '../use-request-actions.ts';
import type { Selection } from '../use-selection.ts';
import type { ChangeView } from '../use-view-state.ts';
import type { DetailsActions } from './details-header.tsx';

/**
 * The actions of the details on the selected request. The object is stable, so that new captures don't render the
 * details again.
 */
export function useDetailsActions(
  selection: Selection,
  actions: RequestActions,
  changeView: ChangeView,
): DetailsActions {
  const latest = useRef({ selection, actions, changeView });
  useEffect(() => {
    latest.current = { selection, actions, changeView };
  });
  return useMemo(() => {
    const withCurrent =
      (act: (now: typeof latest.current, request: NonNullable<Selection['current']>) => void) => () => {
        const { current } = latest.current.selection;
        if (current !== undefined) act(latest.current, current);
      };
    return {
      onTab: (tab) => latest.current.changeView({ tab }),
      onSave: withCurrent((now, request) => now.actions.save(request)),
      onDelete: withCurrent((now, request) => now.actions.remove([request])),
      onCompare: withCurrent((now, request) => now.selection.compareWithPrevious(request)),
      onBack: () => latest.current.selection.back(),
    };
  }, []);
}
