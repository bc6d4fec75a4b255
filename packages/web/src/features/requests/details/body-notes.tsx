import { errorMessage } from '../../../api/client.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { CodingNote, NoteLine } from '../../../bodies/note-line.tsx';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { formatSize } from '../../../ui/format.ts';
import type { ShownBody } from './use-body.ts';

/** Notes about the body: that it was decoded, is only the first part, or could not be read. */
export function BodyNotes({ body, request }: { readonly body: ShownBody; readonly request: ListedRequest }) {
  const { view, error, isLoading, showAll } = body;
  if (error !== null) {
    return (
      <Notice tone="bad" className="m-3">
        {error instanceof Error && error.name !== 'ApiError'
          ? error.message
          : errorMessage(error, 'The body could not be loaded.')}
      </Notice>
    );
  }
  if (view === undefined) return null;
  const cut = !view.whole && view.coding?.cut !== true;
  return (
    <>
      {view.coding === undefined ? null : <CodingNote coding={view.coding} size={request.size} />}
      {view.charset === undefined ? null : (
        <NoteLine>
          The text was decoded from {view.charset}, which its content type declares. Raw has its bytes in hex.
        </NoteLine>
      )}
      {cut && request.size > 0 ? (
        <NoteLine className="flex items-center gap-3">
          <span>
            The first {formatSize(view.bytes.length)}
            {view.coding === undefined ? ` of ${formatSize(request.size)}` : ''}.
          </span>
          <Button size="sm" busy={isLoading} onClick={showAll}>
            {isLoading ? 'Loading…' : 'Show all'}
          </Button>
        </NoteLine>
      ) : null}
    </>
  );
}
