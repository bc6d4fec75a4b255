import type { Call, Handlers } from '../../http/call.ts';
import { LargeAnswer, SMALL_ANSWER_BYTES, inSlices, objectJson } from '../../http/large-answer.ts';
import { presentLarge } from '../requests/service.ts';
import { ProblemError } from '../../http/problem.ts';
import type { RequestRecord } from '../../database/stored-request.ts';
import type { EndpointRecord } from '../../database/records.ts';
import type { Remote } from '../../database/remote.ts';
import type { requestQueries } from '../requests/queries.ts';

/** Requests per read, with the beginning of their bodies. */
const PAGE_SIZE = 20;

/**
 * First line of the file. Each following line is a captured request with its whole body and the uid of its endpoint.
 */
const HEADER = {
  format: 'creel-export',
  version: 1,
  description:
    'One captured request per line after this one. body is text where bodyEncoding is utf8, else base64 of the exact bytes.',
};

/** The requested endpoints. @throws ProblemError ENDPOINT_NOT_FOUND for one that is not the user's */
async function chosenEndpoints({ app, signedIn, query }: Call<'exportRequests'>): Promise<readonly EndpointRecord[]> {
  const endpoints = await app.store.listEndpoints(signedIn.user.id);
  const { endpoint: uids } = query;
  if (uids === undefined) return endpoints;
  return [...new Set(uids)].map((wanted) => {
    const found = endpoints.find(({ uid }) => uid === wanted);
    if (found === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
    return found;
  });
}

/** Holds one whole request in memory; the next one is read after the client has taken it. */
async function* linesOf(
  queries: Remote<typeof requestQueries>,
  endpoints: readonly EndpointRecord[],
): AsyncGenerator<string> {
  yield `${JSON.stringify({ ...HEADER, endpoints: endpoints.map(({ uid, name }) => ({ uid, name })) })}\n`;
  for (const { id, uid } of endpoints) {
    for await (const record of recordsOf(queries, id)) {
      yield* inSlices(objectJson({ endpointUid: uid, ...presentLarge(record) }));
      yield '\n';
    }
  }
}

/**
 * Every stored request of an endpoint, newest first, with its whole body. Omits requests that are deleted meanwhile.
 */
async function* recordsOf(queries: Remote<typeof requestQueries>, endpointId: number): AsyncGenerator<RequestRecord> {
  let before: number | undefined;
  for (;;) {
    const page = await queries.listRequests({
      endpointId,
      which: 'any',
      limit: PAGE_SIZE,
      before,
      bodyBytes: SMALL_ANSWER_BYTES,
    });
    for (const record of page) {
      const { index, savedId, size } = record;
      if (size <= SMALL_ANSWER_BYTES) yield record;
      else {
        const whole = await queries.findRequest(endpointId, savedId === null ? { index } : { savedId });
        if (whole !== undefined) yield whole;
      }
    }
    before = page.at(-1)?.index;
    if (page.length < PAGE_SIZE || before === undefined) return;
  }
}

/** Downloads of stored requests, for example before a plan change. */
export const exportHandlers = {
  async exportRequests(call) {
    const { app, reply, reserve } = call;
    const endpoints = await chosenEndpoints(call);
    // Memory at a time: a page of body beginnings, and one whole body.
    const rawBytes = PAGE_SIZE * SMALL_ANSWER_BYTES + app.config.maxBodyBytes;
    reserve(rawBytes);
    void reply.headers({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': `attachment; filename="creel-export-${new Date(app.now()).toISOString().slice(0, 10)}.ndjson"`,
      'content-security-policy': "sandbox; default-src 'none'",
    });
    return new LargeAnswer(rawBytes, linesOf(app.store, endpoints));
  },
} satisfies Handlers;
