import { ApiError, bodyBytesOf, fillPath, firstHeader, isPage, OPERATIONS, throwUnreached } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { MAX_DECODED_BYTES } from '../bodies/decode-body.ts';
import { responseSource } from '../bodies/response.ts';
import type { ReceivedResponse } from '../bodies/response.ts';
import { viewBodyAsync } from '../bodies/view-body-async.ts';
import { BEGINNING_BYTES } from '../bodies/view-body.ts';
import type { BodyView } from '../bodies/view-body.ts';
import { client, isNotFound, watchedFetch } from './client.ts';
import { queryClient, queryKeys } from './query-client.ts';
import type { ListedRequest } from './request-list.ts';
import { requestQuery } from './request-queries.ts';

type Extent = 'beginning' | 'whole';

const MINUTE_MS = 60_000;

/** The exact bytes of a body, or the first 256 KiB of them. */
export const bodyQuery = (uid: string, request: ListedRequest, extent: Extent) =>
  queryOptions({
    queryKey: queryKeys.body(uid, request.index, extent),
    queryFn: async ({ signal }): Promise<Uint8Array<ArrayBuffer>> => {
      if (!request.bodyTruncated && request.slim === undefined) return bodyBytesOf(request);
      return withRequestId(uid, request, async (id) =>
        extent === 'beginning'
          ? readBeginning(uid, id, signal).catch(throwUnreached)
          : new Uint8Array(await client.call('getRequestBody', { params: { uid, id } }, signal)),
      );
    },
    gcTime: MINUTE_MS,
  });

/**
 * Calls `act` with the id of a request. The id changes when the request is saved: then it is looked up, and `act` is
 * called again.
 */
export async function withRequestId<T>(
  uid: string,
  request: CapturedRequest,
  act: (id: number) => Promise<T>,
): Promise<T> {
  try {
    return await act(request.id);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const found = await queryClient.fetchQuery({ ...requestQuery(uid, request.index), staleTime: 0 });
    if (found === null || found.id === request.id) throw error;
    return act(found.id);
  }
}

/** Reads the first bytes and cancels the rest of the response. */
async function readBeginning(uid: string, id: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const path = fillPath(OPERATIONS.getRequestBody.path, { uid, id });
  const answer = await watchedFetch(path, { signal, cache: 'no-store' });
  if (!answer.ok || answer.body === null || isPage(answer))
    throw new ApiError(answer.status, '', { text: answer.statusText });
  const bytes = new Uint8Array(BEGINNING_BYTES);
  const reader = answer.body.getReader();
  let length = 0;
  while (length < bytes.length) {
    const { done, value } = await reader.read();
    if (done) break;
    const part = value.subarray(0, bytes.length - length);
    bytes.set(part, length);
    length += part.length;
  }
  await reader.cancel();
  return bytes.subarray(0, length);
}

/** A parsed body, ready to be shown in the details. */
export const bodyViewQuery = (uid: string, request: ListedRequest, extent: Extent) =>
  queryOptions({
    queryKey: queryKeys.bodyView(uid, request.index, extent),
    queryFn: async (): Promise<BodyView> => {
      const bytes = await queryClient.fetchQuery(bodyQuery(uid, request, extent));
      const source = {
        bytes,
        complete: bytes.length === request.size,
        contentEncoding: firstHeader(request.rawHeaders, 'content-encoding'),
        contentType: request.contentType,
        limit: extent === 'whole' ? Math.max(MAX_DECODED_BYTES, bytes.length) : BEGINNING_BYTES,
      };
      return viewBodyAsync(source);
    },
    gcTime: MINUTE_MS,
  });

/** A received response, parsed to be shown. `queryKey` identifies it. */
export function useResponseView(queryKey: readonly unknown[], response: ReceivedResponse) {
  const queryFn = () => viewBodyAsync(responseSource(response));
  const { data: view, error } = useQuery({ queryKey, queryFn, gcTime: MINUTE_MS });
  const size = useMemo(() => bodyBytesOf(response).length, [response]);
  return { headers: response.headers, size, view, error };
}

/** All bytes of a body, for copying, downloading and exporting. */
export function readWholeBody(uid: string, request: ListedRequest): Promise<Uint8Array<ArrayBuffer>> {
  return queryClient.fetchQuery(bodyQuery(uid, request, 'whole'));
}

/** All bytes of a body, if the page has them without a call. */
export function bodyOnPage(uid: string, request: ListedRequest): Uint8Array<ArrayBuffer> | undefined {
  if (request.slim !== undefined) return undefined;
  if (!request.bodyTruncated) return bodyBytesOf(request);
  return (['whole', 'beginning'] as const)
    .map((extent) => queryClient.getQueryData<Uint8Array<ArrayBuffer>>(queryKeys.body(uid, request.index, extent)))
    .find((bytes) => bytes?.length === request.size);
}

/** The request with its headers. Loads them if the list has dropped them to save memory. */
export async function readWholeRequest(uid: string, request: ListedRequest): Promise<CapturedRequest> {
  if (request.slim === undefined) return request;
  const found = await queryClient.fetchQuery(requestQuery(uid, request.index, request.saved));
  if (found === null) throw new ApiError(404, 'This request does not exist.');
  return found;
}
