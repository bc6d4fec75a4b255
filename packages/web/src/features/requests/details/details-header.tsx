import { queryOf } from '@creel/contract';
import { ArrowLeft, Save } from 'lucide-react';
import type { ListedRequest } from '../../../api/request-list.ts';
import { readable } from '../../../bodies/wire-text.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { IconButton } from '../../../ui/icon-button.tsx';
import { MethodBadge } from '../../../ui/method-badge.tsx';
import { countBytes } from '../../../ui/sizes.ts';
import { formatClock, formatMoment } from '../../../ui/times.ts';
import { Tooltip } from '../../../ui/tooltip.tsx';
import type { DetailTab } from '../default-tab.ts';
import { DetailsMenu } from './details-menu.tsx';
import { snippetOf } from './export.ts';

/** The actions on the selected request. The object is stable while the details are mounted. */
export interface DetailsActions {
  /** `undefined` selects the default tab of each request. */
  readonly onTab: (tab: DetailTab | undefined) => void;
  readonly onSave: () => void;
  readonly onDelete: () => void;
  readonly onCompare: () => void;
  readonly onBack: () => void;
}

export interface DetailsHeaderProps {
  readonly uid: string;
  readonly captureUrl: string;
  readonly request: ListedRequest;
  readonly canSave: boolean;
  readonly saving: boolean;
  /** True if the details cover the list and need a close button. */
  readonly covers: boolean;
  readonly actions: DetailsActions;
}

const AUTHENTICATION_HINT = 'Authentication required to save requests';

/** Method, path and actions; below them time, source and size. */
export function DetailsHeader(props: DetailsHeaderProps) {
  const { request, uid, captureUrl, covers, actions } = props;
  const path = readable(request.path) || '/';
  const query = readable(queryOf(request));
  return (
    <header className="flex shrink-0 flex-col gap-1 px-4 py-2.5">
      <div className="flex min-w-0 flex-wrap items-center gap-2 @md:flex-nowrap">
        {covers ? (
          <IconButton label="Back to the list" icon={<ArrowLeft />} size="md" onClick={actions.onBack} />
        ) : null}
        <h2 className="flex min-w-0 grow basis-4/5 items-center gap-2 @md:basis-0">
          <MethodBadge method={request.method} className="shrink-0" />
          <span className="min-w-0 truncate font-mono" title={`/h/${uid}${path}${query}`}>
            <span className="text-ink-3">/h/…</span>
            {path}
            <span className="text-ink-3">{query}</span>
          </span>
          {request.saved ? null : <Badge tone="warning">Unsaved</Badge>}
        </h2>
        <SaveButton {...props} />
        <CopyButton text={() => snippetOf('curl', uid, request, captureUrl)} label="Copy as cURL">
          cURL
        </CopyButton>
        <DetailsMenu {...props} />
      </div>
      <p className="flex min-w-0 flex-wrap gap-x-3 font-mono text-sm text-ink-2">
        <span>#{request.index}</span>
        <time dateTime={request.timestamp} title={formatMoment(request.timestamp)}>
          {formatClock(request.timestamp)}
        </time>
        <span>{request.sourceIp}</span>
        <span>{countBytes(request.size)}</span>
      </p>
    </header>
  );
}

/** Enabled only for unsaved requests; 'Saving...' during the call. */
function SaveButton({ request, canSave, saving, actions }: DetailsHeaderProps) {
  const button = (
    <Button disabled={!canSave} busy={request.saved || saving} onClick={actions.onSave}>
      <Save />
      {saving ? 'Saving...' : request.saved ? 'Saved' : 'Save'}
    </Button>
  );
  if (canSave) return button;
  return (
    <Tooltip text={AUTHENTICATION_HINT}>
      <span title={AUTHENTICATION_HINT}>{button}</span>
    </Tooltip>
  );
}
