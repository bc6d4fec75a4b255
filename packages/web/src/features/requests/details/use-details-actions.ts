import { useMemo } from 'react';
import { useLatest } from '../../../ui/state.ts';
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
  const latestRef = useLatest({ selection, actions, changeView });
  return useMemo(() => {
    const withCurrent =
      (act: (now: typeof latestRef.current, request: NonNullable<Selection['current']>) => void) => () => {
        const { current } = latestRef.current.selection;
        if (current !== undefined) act(latestRef.current, current);
      };
    return {
      onTab: (tab) => latestRef.current.changeView({ tab }),
      onSave: withCurrent((now, request) => now.actions.save(request)),
      onDelete: withCurrent((now, request) => now.actions.remove([request])),
      onCompare: withCurrent((now, request) => now.selection.compareWithPrevious(request)),
      onBack: () => latestRef.current.selection.back(),
    };
  }, [latestRef]);
}
