import { ApiError } from '@creel/contract';
import type { ReplayAnswer } from '@creel/contract';
import { skipToken, useQuery } from '@tanstack/react-query';
import { withRequestId } from '../../api/body-queries.ts';
import { client, errorMessage, toastFailure } from '../../api/client.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { statusTone } from '../../ui/format.ts';
import { toast } from '../../ui/toast-store.ts';
import { toReplayBody } from './replay-form.ts';
import type { ReplayForm, StoredRequestRef } from './replay-form.ts';
import { rememberTarget } from './replay-targets.ts';

const MINUTE_MS = 60_000;
/** Milliseconds to keep the response of a request that is not shown. */
const KEPT_MS = 30 * MINUTE_MS;

/** The state of the last replay of a request. */
export type ReplayState =
  | { readonly phase: 'sending'; readonly cancel: () => void }
  | { readonly phase: 'answered'; readonly answer: ReplayAnswer; readonly url: string; readonly at: number }
  | { readonly phase: 'failed'; readonly error: unknown }
  | { readonly phase: 'canceled' };

/** The last replay of a request. It continues while the user looks at another request. */
export function useReplayState(uid: string, index: number): ReplayState | undefined {
  return useQuery<ReplayState>({ queryKey: queryKeys.replay(uid, index), queryFn: skipToken, gcTime: KEPT_MS }).data;
}

/** How a replay ended. */
type ReplayOutcome = Exclude<ReplayState, { readonly phase: 'sending' }>;

/** Replays a request, and keeps the result for its details. */
export async function replayOnce(
  uid: string,
  request: ListedRequest,
  form: ReplayForm,
  controller: AbortController,
): Promise<ReplayOutcome> {
  const show = (state: ReplayState) =>
    queryClient.setQueryData<ReplayState>(queryKeys.replay(uid, request.index), state);
  const ended = (outcome: ReplayOutcome): ReplayOutcome => {
    show(outcome);
    return outcome;
  };
  show({ phase: 'sending', cancel: () => controller.abort() });
  try {
    const answer = await call(uid, request, form, controller.signal);
    const url = form.url.trim();
    rememberTarget(uid, request, url);
    return ended({ phase: 'answered', answer, url, at: Date.now() });
  } catch (error) {
    return ended(controller.signal.aborted ? { phase: 'canceled' } : { phase: 'failed', error });
  }
}

/** Closes the toast of the last replay, which would contradict the result of the next one. */
let closeLastToast = (): void => undefined;

/**
 * Replays a request and shows a toast with the outcome. Returns the error if it failed. Only one replay per request
 * runs at a time.
 */
export async function sendReplay(uid: string, request: ListedRequest, form: ReplayForm): Promise<unknown> {
  const key = queryKeys.replay(uid, request.index);
  if (queryClient.getQueryData<ReplayState>(key)?.phase === 'sending') return undefined;
  closeLastToast();
  const outcome = await replayOnce(uid, request, form, new AbortController());
  if (outcome.phase === 'answered') {
    const { status } = outcome.answer;
    closeLastToast = toast({
      title: 'Request Sent',
      description: `Received ${status} response from the server.`,
      ...(statusTone(status) === 'destructive' ? { variant: 'destructive' } : {}),
    });
  }
  if (outcome.phase !== 'failed') return undefined;
  closeLastToast = toastFailure(outcome.error, 'Failed to send request. Please check the URL and try again.');
  return outcome.error;
}

async function call(uid: string, request: ListedRequest, form: ReplayForm, signal: AbortSignal): Promise<ReplayAnswer> {
  const { size } = request;
  const send = (stored?: StoredRequestRef) => client.call('replay', { body: toReplayBody(form, stored) }, signal);
  try {
    return await withRequestId(uid, request, (id) => send({ of: { endpointUid: uid, id }, size }));
  } catch (error) {
    // Without the captured body and the secret, a request that is not stored can be sent, too. It has no history.
    const isComplete = (form.body !== undefined || size === 0) && !form.sign;
    if (isComplete && error instanceof ApiError && error.code === 'REQUEST_NOT_FOUND') return send();
    throw error;
  }
}

const NOT_FOUND: ReadonlySet<string | undefined> = new Set(['REQUEST_NOT_FOUND', 'ENDPOINT_NOT_FOUND']);

/** Why there is no response: the server's message or a generic one. */
export function replayFailure(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The request could not be sent.';
  if (NOT_FOUND.has(error.code)) return "This request is not stored any more, so its body can't be sent as captured.";
  return errorMessage(error, `Server responded with status: ${error.status}`);
}
