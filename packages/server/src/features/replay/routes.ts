import { MAX_REPLAY_RESPONSE_BYTES, replaySchema } from '@creel/contract';
import type { ReplayAnswer, ReplayInput } from '@creel/contract';
import { z } from 'zod';
import { LongText, objectAnswer, textOrBase64 } from '../../http/large-answer.ts';
import { ProblemError, invalid } from '../../http/problem.ts';
import { expectFound, parseRequestId } from '../requests/service.ts';
import { WITHOUT_SECRET } from '../signatures/service.ts';
import type { Sign } from '../signatures/service.ts';
import type { OutboundResponse } from './send-request.ts';
import type { EndpointRecord } from '../../database/records.ts';
import { hangUpSignal } from '../../http/call.ts';
import { bytesOf } from '../../http/json-body.ts';
import type { Call, Finders, Handlers } from '../../http/call.ts';

type ReplayCall = Call<'replay'>;
const WITHOUT_REQUEST = 'To sign, name the captured request with of or bodyFrom.';

type Source = NonNullable<ReplayInput['bodyFrom']>;

/** Replays of a captured request, unchanged or edited. */
export const replayHandlers = {
  async replay(call) {
    const { app, body, longText, loggedIn, reply, reserve, whenDone } = call;
    const { method, url, headers, bodyFrom, of, sign: isSigned } = body;
    const signal = hangUpSignal(reply);
    // First, so that another user's request is a 404 before all other checks.
    const stored = bodyFrom ? await findStored(call, bodyFrom) : undefined;
    const origin = of ? await findStored(call, of) : stored;
    const sign = isSigned ? await signerOf(call, origin?.endpoint) : undefined;
    const given = stored === undefined ? await bytesOf(body.body ?? '', longText, body.bodyEncoding) : Buffer.alloc(0);
    reserve(given.length);
    const readBody = async (): Promise<Uint8Array> => {
      // Reserved before sending, because a sent replay must not end in a rejection.
      reserve(MAX_REPLAY_RESPONSE_BYTES);
      if (stored === undefined) return given;
      reserve(stored.size);
      return stored.read();
    };
    const caller = { userId: loggedIn.user.id, signal, whenDone };
    const send = () => app.replays.send({ method, url, headers, readBody, sign }, caller);
    const response =
      origin === undefined ? await send() : await app.deliveries.recordReplay(origin, { method, url }, send);
    return objectAnswer(response.body.length, present(response));
  },
} satisfies Handlers;

/** The stored requests that a body names. Ignores its other fields. */
const sourcesSchema = z.object({
  bodyFrom: replaySchema.shape.bodyFrom.catch(undefined),
  of: replaySchema.shape.of.catch(undefined),
});

export const replayFinders = {
  async replay(call) {
    const { bodyFrom, of } = sourcesSchema.safeParse(call.sent).data ?? {};
    for (const source of [bodyFrom, of]) if (source) await findStored(call, source);
  },
} satisfies Finders;

/** A stored request of the caller. Its body is read later. @throws ProblemError REQUEST_NOT_FOUND */
async function findStored({ app, loggedIn }: Pick<ReplayCall, 'app' | 'loggedIn'>, { endpointUid, id }: Source) {
  const ref = parseRequestId(String(id));
  const endpoint = await app.store.findEndpoint(endpointUid);
  if (endpoint === undefined || endpoint.userId !== loggedIn.user.id) throw new ProblemError('REQUEST_NOT_FOUND');
  const { size, index } = expectFound(await app.store.findRequest(endpoint.id, ref, 0));
  return {
    endpoint,
    index,
    size,
    // By index, because the request may be saved while the replay waits for its turn.
    read: async () => expectFound(await app.store.findWhole(endpoint.id, index)).body ?? Buffer.alloc(0),
  };
}

/** @throws ProblemError VALIDATION_FAILED without an endpoint or a secret */
async function signerOf({ app }: ReplayCall, endpoint: EndpointRecord | undefined): Promise<Sign> {
  if (endpoint === undefined) throw invalid({ sign: WITHOUT_REQUEST });
  const sign = await app.signatures.signerOf(endpoint);
  if (sign === undefined) throw invalid({ sign: WITHOUT_SECRET });
  return sign;
}

type Presented = Omit<ReplayAnswer, 'body'> & { readonly body: LongText | null };

/** The response unchanged; its body as text if it is valid UTF-8, otherwise as base64. */
function present({ status, statusText, headers, body, isCut, durationMs }: OutboundResponse): Presented {
  const { bytes, encoding } = textOrBase64(body, isCut);
  return {
    status,
    statusText,
    headers: headers.map(([key, value]) => ({ key, value })),
    body: body.length === 0 ? null : new LongText(bytes, encoding),
    bodyEncoding: encoding,
    bodyTruncated: isCut,
    durationMs: Math.round(durationMs),
  };
}
