import type { SigningSecret } from '@creel/contract';
import { queryOptions, useMutation } from '@tanstack/react-query';
import { readByAnyId } from '../../api/body-queries.ts';
import { client } from '../../api/client.ts';
import { patchEndpoint } from '../../api/queries.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import type { ListedRequest } from '../../api/request-list.ts';

const MINUTE_MS = 60_000;

/** Whether the signature of a request is valid. The server checks the whole body, and its answer has the whole body too. */
export const signatureQuery = (uid: string, request: ListedRequest) =>
  queryOptions({
    queryKey: queryKeys.signature(uid, request.index),
    queryFn: async ({ signal }) =>
      (await readByAnyId(uid, request, (id) => client.call('getRequest', { params: { uid, id } }, signal))).signature,
    gcTime: MINUTE_MS,
  });

/** A changed secret changes every verdict. */
function showSigning(uid: string, secret: SigningSecret | undefined): void {
  patchEndpoint(uid, { signing: secret === undefined ? null : { scheme: secret.scheme } });
  void queryClient.resetQueries({ queryKey: queryKeys.signatures(uid) });
}

export function useSetSecret(uid: string) {
  return useMutation({
    mutationFn: (body: SigningSecret) => client.call('setSigningSecret', { params: { uid }, body }),
    onSuccess: (_, body) => showSigning(uid, body),
    // The secret stays in memory no longer than the call.
    gcTime: 0,
  });
}

export function useDeleteSecret(uid: string) {
  return useMutation({
    mutationFn: () => client.call('deleteSigningSecret', { params: { uid } }),
    onSuccess: () => showSigning(uid, undefined),
  });
}
