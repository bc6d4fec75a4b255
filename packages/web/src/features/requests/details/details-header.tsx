import { queryOf } from '@creel/contract';
import { clsx } from 'clsx';
import { ArrowLeft, Save, ChevronDown, ChevronUp } from 'lucide-react';
import { useState } from 'react';
import type { ComponentType } from 'react';
import { labelOf } from '../../../api/request-list.ts';
import type { RequestPartProps } from '../../../api/request-list.ts';
import { readable } from '../../../bodies/encoding.ts';
import { RequestNumber, Badge, MethodBadge } from '../../../ui/badges.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy.tsx';
import { counted, formatInstant } from '../../../ui/format.ts';
import { keepsFocus } from '../../../ui/focus.ts';
import { useLoginReason } from '../use-request-actions.ts';
import { snippetOf } from '../write-snippet.ts';
import { DetailsMenu } from './details-menu.tsx';
import type { DetailsMenuProps } from './details-menu.tsx';
import { decodedPath } from './tab-content.ts';

export interface DetailsHeaderProps extends DetailsMenuProps {
  readonly saving: boolean;
  /** True if the details cover the list and need a close button. */
  readonly covers: boolean;
  readonly SignatureFact: ComponentType<RequestPartProps>;
}

/** Method, URL and actions; below them sender, event type, time, address and size. */
export function DetailsHeader(props: DetailsHeaderProps) {
  const { request, uid, captureUrl, covers, actions } = props;
  return (
    <header {...keepsFocus()} className="flex shrink-0 flex-col gap-1 px-4 py-2 outline-offset-[-2px]">
      {/* In a narrow pane, a URL that leaves no room for the actions has a line of its own. */}
      <div className="flex min-w-0 flex-wrap items-start gap-1.5 @md:flex-nowrap">
        <div className="flex max-w-full min-w-0 grow items-start gap-1.5">
          {covers ? (
            <IconButton label="Back to the list" icon={<ArrowLeft />} size="md" onClick={actions.onBack} />
          ) : null}
          <RequestTarget uid={uid} request={request} />
        </div>
        <div className="ml-auto flex shrink-0 items-start gap-1.5">
          <SaveButton {...props} />
          <CopyButton
            text={() => snippetOf('curl', uid, request, captureUrl)}
            label="Copy as cURL"
            size="sm"
            className="@max-md:w-8 @max-md:px-0"
          >
            <span className="@max-md:hidden">cURL</span>
          </CopyButton>
          <DetailsMenu {...props} />
        </div>
      </div>
      <DetailsFacts {...props} />
    </header>
  );
}

/** One line of facts, which wraps in a narrow pane. */
function DetailsFacts({ uid, request, SignatureFact }: DetailsHeaderProps) {
  const { source } = labelOf(request);
  const { eventType } = request;
  return (
    <p className="flex min-w-0 flex-wrap items-center gap-x-3 font-mono text-sm text-ink-2">
      <RequestNumber index={request.index} />
      <span title="Sender" className={source === 'Unknown' ? 'text-ink-3' : 'text-ink'}>
        {source}
      </span>
      {eventType === null ? null : (
        <span title={`Event type: ${eventType}`} className="max-w-full truncate text-ink">
          {eventType}
        </span>
      )}
      <time dateTime={request.timestamp} title={request.timestamp}>
        {formatInstant(request.timestamp)}
      </time>
      <span title="Address of the sender">{request.sourceIp}</span>
      <span>{counted(request.size, 'byte')}</span>
      <SignatureFact uid={uid} request={request} />
    </p>
  );
}

/** Enabled only for unsaved requests; 'Saving...' during the call. */
function SaveButton({ request, saving, actions }: DetailsHeaderProps) {
  const reason = useLoginReason('save');
  return (
    <Button size="sm" busy={request.saved || saving} reason={reason} onClick={() => actions.onSave(request)}>
      <Save />
      {saving ? 'Saving...' : 'Save'}
    </Button>
  );
}

/** A longer URL may not fit into the header of a narrow pane and can be expanded. */
const MAX_SHORT_LENGTH = 28;

/** Method and URL as sent, and the decoded path if it differs. A long URL is cut until it is expanded. */
function RequestTarget({ uid, request }: RequestPartProps) {
  const [isExpanded, setExpanded] = useState(false);
  const path = readable(request.path) || '/';
  const query = readable(queryOf(request));
  const decoded = decodedPath(request.path);
  const isLong = path.length + query.length > MAX_SHORT_LENGTH;
  const fit = isExpanded ? 'max-h-40 overflow-y-auto wrap-anywhere' : 'truncate';
  return (
    <div className="flex min-w-0 grow flex-col gap-0.5">
      <h2 className="flex min-h-7 min-w-0 items-center gap-2 pointer-coarse:min-h-11">
        <MethodBadge method={request.method} className="shrink-0" />
        <span className={clsx('min-w-0 font-mono', fit)} title={`/h/${uid}${path}${query}`}>
          <span className={clsx('text-ink-3', !isExpanded && '@max-md:hidden')}>
            {isExpanded ? `/h/${uid}` : '/h/…'}
          </span>
          {path}
          <span className="text-ink-3">{query}</span>
        </span>
        {isLong ? (
          <IconButton
            label={isExpanded ? 'Show less of the URL' : 'Show the whole URL'}
            icon={isExpanded ? <ChevronUp /> : <ChevronDown />}
            aria-expanded={isExpanded}
            onClick={() => setExpanded(!isExpanded)}
            className="-mx-1"
          />
        ) : null}
        {request.saved ? null : <Badge tone="warning">Unsaved</Badge>}
      </h2>
      {decoded === undefined ? null : (
        <p className={clsx('min-w-0 font-mono text-sm text-ink-2', fit)} title={decoded}>
          <span className="font-sans text-ink-3">Decoded </span>
          {/* A path is read from left to right, also if its first letter is Arabic. */}
          <bdi dir="ltr">{decoded}</bdi>
        </p>
      )}
    </div>
  );
}
