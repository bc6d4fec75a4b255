import { Link, useLocation } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Lock, Unlink, FileQuestion } from 'lucide-react';
import { bodyOnPage } from '../../../api/body-queries.ts';
import { errorMessage } from '../../../api/client.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { DecodingNotes, NoteLine } from '../../../bodies/note-line.tsx';
import { BEGINNING_BYTES } from '../../../bodies/view-body.ts';
import { Badge } from '../../../ui/badges.tsx';
import { Button } from '../../../ui/button.tsx';
import { Notice, EmptyState } from '../../../ui/feedback.tsx';
import { formatCount, formatSize } from '../../../ui/format.ts';
import { loginPage } from '../../../ui/urls.ts';
import { useLoginReason } from '../use-request-actions.ts';
import type { ShownBody } from './use-body.ts';

/** Shown if the session has ended. */
export function AuthenticationRequired() {
  const next = useLocation({ select: ({ href }) => href });
  return (
    <div role="alert" className="mx-4 mb-2.5 flex flex-wrap items-center gap-3 rounded-md bg-warn-soft px-3 py-2">
      <Lock aria-hidden className="size-4 shrink-0 text-warn" />
      <div className="min-w-0 grow">
        <h3 className="font-medium">Authentication Required</h3>
        <p className="text-ink-2">The Save Request feature requires authentication.</p>
      </div>
      <Button asChild size="sm">
        <Link {...loginPage(next)}>Sign In</Link>
      </Button>
    </div>
  );
}

interface DroppedNoticeProps {
  readonly uid: string;
  readonly request: ListedRequest;
  readonly maxUnsaved: number;
  readonly saving: boolean;
  readonly onSave: () => void;
}

/** The server has dropped the request on the screen. It can be saved as long as the page has all of it. */
export function DroppedNotice({ uid, request, maxUnsaved, saving, onSave }: DroppedNoticeProps) {
  const loginReason = useLoginReason('save');
  const isWhole = bodyOnPage(uid, request) !== undefined;
  return (
    <div
      role="status"
      className="flex shrink-0 flex-wrap items-center gap-x-2 gap-y-1 bg-warn-soft px-4 py-1.5 text-warn"
    >
      <Unlink aria-hidden className="size-4 shrink-0" />
      <Badge tone="warning">Dropped</Badge>
      <p className="min-w-0 grow basis-60 text-pretty">
        Only the newest {formatCount(maxUnsaved)} unsaved requests are kept, and this one is older. This page{' '}
        {isWhole ? 'still has all of it.' : 'has only the beginning of its body.'}
      </p>
      {isWhole ? (
        <Button size="sm" busy={saving} reason={loginReason} onClick={onSave}>
          {saving ? 'Saving...' : 'Save now'}
        </Button>
      ) : null}
    </div>
  );
}

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
  const loadsRest = isLoading && request.size <= BEGINNING_BYTES;
  return (
    <>
      <DecodingNotes view={view} size={request.size}>
        {' Raw has its bytes in hex.'}
      </DecodingNotes>
      {cut && request.size > 0 ? (
        // Over the end of the text while the rest loads by itself, so that its beginning does not move afterwards.
        <NoteLine className={clsx('flex items-center gap-3', loadsRest && 'absolute inset-x-0 bottom-0 z-10 border-t')}>
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
