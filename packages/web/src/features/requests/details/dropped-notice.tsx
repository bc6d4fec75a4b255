import { Unlink } from 'lucide-react';
import { bodyOnPage } from '../../../api/body-queries.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { Badge } from '../../../ui/badges.tsx';
import { Button } from '../../../ui/button.tsx';
import { formatCount } from '../../../ui/format.ts';

interface DroppedNoticeProps {
  readonly uid: string;
  readonly request: ListedRequest;
  readonly maxUnsaved: number;
  readonly canSave: boolean;
  readonly saving: boolean;
  readonly onSave: () => void;
}

/** The server has dropped the request on the screen. It can be saved as long as the page has all of it. */
export function DroppedNotice({ uid, request, maxUnsaved, canSave, saving, onSave }: DroppedNoticeProps) {
  const isWhole = bodyOnPage(uid, request) !== undefined;
  return (
    <div
      role="status"
      className="flex shrink-0 flex-wrap items-center gap-x-2 gap-y-1 bg-warn-soft px-4 py-1.5 text-warn"
    >
      <Unlink aria-hidden className="size-4 shrink-0" />
      <Badge tone="warning">Dropped</Badge>
      <p className="min-w-0 grow basis-60 text-pretty">
        {isWhole
          ? `Only the newest ${formatCount(maxUnsaved)} unsaved requests are kept, and this one is older. This page still has all of it.`
          : `Only the newest ${formatCount(maxUnsaved)} unsaved requests are kept, and this one is older. This page has only the beginning of its body.`}
      </p>
      {isWhole ? (
        <Button size="sm" disabled={!canSave} busy={saving} onClick={onSave}>
          {saving ? 'Saving...' : 'Save now'}
        </Button>
      ) : null}
    </div>
  );
}
