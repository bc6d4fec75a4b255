import { FileQuestion, MousePointerClick } from 'lucide-react';
import { EmptyState } from '../../../ui/empty-state.tsx';

export function NothingSelected() {
  return (
    <EmptyState icon={<MousePointerClick />} title="No request selected">
      Choose a request from the list to see what it brought.
    </EmptyState>
  );
}

/** The address names a request that was deleted, cleared, or dropped as the oldest unsaved one. */
export function DetailsMissing() {
  return (
    <EmptyState icon={<FileQuestion />} title="This request is not stored any more">
      It was deleted, or it was among the oldest unsaved requests. Saved requests are kept.
    </EmptyState>
  );
}
