import type { EndpointDetail } from '@creel/contract';
import { Notice } from '../../ui/notice.tsx';
import { useNow } from '../../ui/use-now.ts';
import { endpointHints, savedCapacityNotice } from './endpoint-hints.ts';
import { isExpired } from './endpoint-labels.ts';

export interface EndpointNoticesProps {
  readonly endpoint: EndpointDetail;
  /** Number of live messages that did not match the contract. */
  readonly badFrames: number;
}

/** The hints below the URL, in one line at the width of a desktop. */
export function EndpointHints({ endpoint }: Pick<EndpointNoticesProps, 'endpoint'>) {
  return <p className="text-xs text-pretty text-ink-2">{endpointHints(endpoint).join(' ')}</p>;
}

/** The warnings below the URL. */
export function EndpointNotices({ endpoint, badFrames }: EndpointNoticesProps) {
  const capacity = savedCapacityNotice(endpoint);
  const expired = isExpired(endpoint, useNow());
  return (
    <div className="flex flex-col gap-2 empty:hidden">
      {expired ? (
        <Notice tone="warn">
          This endpoint has expired: senders receive status 410, and no new requests are captured.
        </Notice>
      ) : null}
      {capacity === undefined ? null : <Notice tone="warn">{capacity}</Notice>}
      {badFrames === 0 ? null : (
        <Notice>
          {badFrames === 1 ? 'One live message was' : `${badFrames} live messages were`} invalid and could not be shown.
          Reload the page to see everything.
        </Notice>
      )}
    </div>
  );
}
