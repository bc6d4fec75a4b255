import { bodyBytesOf, firstHeader, codingNamesOf } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { bodyViewQuery } from '../../../api/body-queries.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { BEGINNING_BYTES, viewPlain } from '../../../bodies/view-body.ts';
import type { BodyView } from '../../../bodies/view-body.ts';

export type ShownBody = ReturnType<typeof useBody>;

/**
 * The body of a request: first what the list has, then the first 256 KiB, and the whole body on request, or when it is
 * searched.
 */
export function useBody(uid: string, request: ListedRequest, isSearched: boolean) {
  const [wantsAll, setWantsAll] = useState(false);
  if (isSearched && !wantsAll) setWantsAll(true);
  const extent = wantsAll || request.size <= BEGINNING_BYTES ? 'whole' : 'beginning';
  // A delivery or a save makes another object of the request. Its headers and its body stay the same.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const preview = useMemo(() => viewOfPreview(request), [request.slim, request.rawHeaders, request.body]);
  const { data, error, isFetching } = useQuery({
    ...bodyViewQuery(uid, request, extent),
    enabled: request.size > 0 && preview?.whole !== true,
  });
  const { data: beginning } = useQuery({ ...bodyViewQuery(uid, request, 'beginning'), enabled: false });
  return {
    /** What is loaded so far; `undefined` if nothing is. */
    view: data ?? beginning ?? preview,
    error,
    /** True while more is being loaded. */
    isLoading: isFetching,
    showAll: () => setWantsAll(true),
  };
}

/** The part of the body that is in the list, parsed. `undefined` if it must be loaded or decoded first. */
function viewOfPreview(request: ListedRequest): BodyView | undefined {
  const contentEncoding = firstHeader(request.rawHeaders, 'content-encoding');
  if (request.slim !== undefined || (request.size > 0 && codingNamesOf(contentEncoding).length > 0)) return undefined;
  return viewPlain({
    bytes: bodyBytesOf(request),
    complete: !request.bodyTruncated,
    contentEncoding,
    contentType: request.contentType,
    limit: BEGINNING_BYTES,
  });
}
