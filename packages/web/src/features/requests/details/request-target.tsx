import { queryOf } from '@creel/contract';
import { clsx } from 'clsx';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { useState } from 'react';
import type { ListedRequest } from '../../../api/request-list.ts';
import { readable } from '../../../bodies/encoding.ts';
import { Badge, MethodBadge } from '../../../ui/badges.tsx';
import { IconButton } from '../../../ui/button.tsx';
import { decodedPath } from './decoded-path.ts';

/** A longer URL may not fit into the header of a narrow pane and can be expanded. */
const MAX_SHORT_LENGTH = 28;

/** Method and URL as sent, and the decoded path if it differs. A long URL is cut until it is expanded. */
export function RequestTarget({ uid, request }: { readonly uid: string; readonly request: ListedRequest }) {
  const [isExpanded, setExpanded] = useState(false);
  const path = readable(request.path) || '/';
  const query = readable(queryOf(request));
  const decoded = decodedPath(request.path);
  const isLong = path.length + query.length > MAX_SHORT_LENGTH;
  const fit = isExpanded ? 'max-h-40 overflow-y-auto wrap-anywhere' : 'truncate';
  return (
    <div className="flex min-w-0 grow basis-4/5 flex-col gap-0.5 @sm:basis-0">
      <h2 className="flex min-h-7 min-w-0 items-center gap-2 max-md:pointer-coarse:min-h-11">
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
          <bdi>{decoded}</bdi>
        </p>
      )}
    </div>
  );
}
