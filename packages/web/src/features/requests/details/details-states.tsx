import { FileQuestion, MousePointerClick } from 'lucide-react';
import { Button } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/feedback.tsx';

export function NothingSelected() {
  return (
    <EmptyState icon={<MousePointerClick />} title="No request selected">
      Choose a request from the list to see its details.
    </EmptyState>
  );
}

/** The URL names a request that was deleted, cleared, or dropped as the oldest unsaved one. */
export function DetailsMissing({ onBack }: { readonly onBack: (() => void) | undefined }) {
  return (
    <EmptyState
      icon={<FileQuestion />}
      title="This request is not stored any more"
      actions={onBack === undefined ? undefined : <Button onClick={onBack}>Back to the list</Button>}
    >
      It was deleted, or it was among the oldest unsaved requests. Saved requests are kept.
    </EmptyState>
  );
}
