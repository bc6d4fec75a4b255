import { isUtf8 } from 'node:buffer';
import { encodeHead, storedBytes } from '../../database/stored-request.ts';
import type { RequestRef, RequestRecord } from '../../database/stored-request.ts';
import { BODY_PREVIEW_BYTES, MAX_HEAD_BYTES, unsavedId } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { expectFound, parseRequestId, presentLarge, presentPreview } from './service.ts';
import type { AppContext } from '../../app-context.ts';
import type { SaveResult } from './change-queries.ts';
import { hideOwnCookies } from '../../http/cookies.ts';
import { ProblemError, invalid } from '../../http/problem.ts';
import { SANDBOX_POLICY } from '../../http/security-headers.ts';
import { closedSignal, setNextPage } from '../../http/call.ts';
import { bytesOf } from '../../http/json-body.ts';
import { freeBytes } from '../../http/body-buffer.ts';
import type { Call, Finders, Handlers } from '../../http/call.ts';
import {
  LargeAnswer,
  SMALL_ANSWER_BYTES,
  listAnswer,
  objectAnswer,
  rawBytesOf,
  inSlices,
  objectJson,
} from '../../http/large-answer.ts';
import type { EndpointRecord } from '../../database/records.ts';
import type { Remote } from '../../database/remote.ts';
import type { requestQueries } from './queries.ts';

/** Maximum stored bytes of a list item: a head, and the beginning of a body. */
const MAX_PREVIEW_BYTES = MAX_HEAD_BYTES + BODY_PREVIEW_BYTES;

async function listPage(
  call: Call<'listSaved'> | Call<'listUnsaved'>,
  which: 'saved' | 'unsaved',
): Promise<LargeAnswer> {
  const { app, endpoint, query, reply, readInTurn } = call;
  const read = {
    endpointId: endpoint.id,
    which,
    // Reads one more than requested, to know whether there is a next page.
    limit: query.limit + 1,
    before: query.before,
    method: query.method,
    bodyBytes: BODY_PREVIEW_BYTES,
  };
  const records = await readInTurn(() => app.store.listRequests(read));
  const page = records.slice(0, query.limit);
  call.reserve(rawBytesOf(page));
  const last = page.at(-1);
  if (records.length > page.length && last !== undefined)
    setNextPage(reply, { limit: query.limit, before: last.index });
  return listAnswer(page, presentPreview);
}

type CallOnEndpoint = Pick<Call<'getRequest'>, 'app' | 'endpoint' | 'reserve' | 'readInTurn'>;

/** A request with its whole body. Its memory is reserved before it is read. */
async function findOne({ app, endpoint, reserve, readInTurn }: CallOnEndpoint, ref: RequestRef) {
  const beginning = expectFound(await readInTurn(() => app.store.findRequest(endpoint.id, ref, SMALL_ANSWER_BYTES)));
  reserve(beginning.head.length + beginning.size);
  if (beginning.size <= SMALL_ANSWER_BYTES) return beginning;
  // By index, because the request may have been saved since its beginning was read.
  return expectFound(await app.store.findWhole(endpoint.id, beginning.index));
}

/** A request with its whole body, whose memory is freed when it is written. */
function wholeAnswer(
  { whenDone }: Pick<Call<'getRequest'>, 'whenDone'>,
  record: RequestRecord,
  more: object = {},
): LargeAnswer {
  // Without this, V8 frees it late, because large bodies are few objects.
  whenDone(() => record.body && freeBytes(record.body));
  return objectAnswer(storedBytes(record), { ...presentLarge(record), ...more });
}

/** The saved request, with the beginning of its body. Viewers see a change. @throws ProblemError if it was not saved */
function showSaved(app: AppContext, endpointId: number, result: SaveResult): CapturedRequest {
  if (result === undefined) throw new ProblemError('REQUEST_NOT_FOUND');
  if (result === 'limit') throw new ProblemError('SAVED_LIMIT');
  const request = presentPreview(result.record);
  const { index } = request;
  if (result.changed)
    app.live.publishContent(
      { kind: 'saved', endpointId, indexes: [index] },
      { type: 'saved', data: { oldId: unsavedId(index), request } },
    );
  return request;
}

/** True if the client wants a short answer to a change (RFC 7240, section 4.2). */
const prefersMinimal = (prefer: string | string[] | undefined): boolean =>
  /(^|[\s,;])return\s*=\s*"?minimal\b/i.test(String(prefer ?? ''));

/** Requests per read of an export, with the beginning of their bodies. */
const EXPORT_PAGE_SIZE = 20;

/** The first line of an export. Each following one is a request with its whole body and its endpoint's uid. */
const EXPORT_HEADER = {
  format: 'creel-export',
  version: 1,
  description:
    'One captured request per line after this one. body is text where bodyEncoding is utf8, else base64 of the exact bytes.',
};

/** The requested endpoints. @throws ProblemError ENDPOINT_NOT_FOUND for one that is not the user's */
async function chosenEndpoints({ app, loggedIn, query }: Call<'exportRequests'>): Promise<readonly EndpointRecord[]> {
  const endpoints = await app.store.listEndpoints(loggedIn.user.id);
  const { endpoint: uids } = query;
  if (uids === undefined) return endpoints;
  return [...new Set(uids)].map((wanted) => {
    const found = endpoints.find(({ uid }) => uid === wanted);
    if (found === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
    return found;
  });
}

/** Called before a whole body is read. @throws ProblemError UNAVAILABLE when there is no memory for it */
type ReserveBody = (bytes: number) => void;

/** Holds one whole request in memory; the next one is read after the client has taken it. */
async function* linesOf(
  queries: Remote<typeof requestQueries>,
  endpoints: readonly EndpointRecord[],
  reserveBody: ReserveBody,
): AsyncGenerator<string> {
  yield `${JSON.stringify({ ...EXPORT_HEADER, endpoints: endpoints.map(({ uid, name }) => ({ uid, name })) })}\n`;
  for (const { id, uid } of endpoints) {
    for await (const record of recordsOf(queries, id, reserveBody)) {
      yield* inSlices(objectJson({ endpointUid: uid, ...presentLarge(record) }));
      yield '\n';
    }
  }
}

/** All stored requests, newest first, with whole bodies. Omits requests that are deleted meanwhile. */
async function* recordsOf(
  queries: Remote<typeof requestQueries>,
  endpointId: number,
  reserveBody: ReserveBody,
): AsyncGenerator<RequestRecord> {
  let before: number | undefined;
  for (;;) {
    const page = await queries.listRequests({
      endpointId,
      which: 'any',
      limit: EXPORT_PAGE_SIZE,
      before,
      bodyBytes: SMALL_ANSWER_BYTES,
    });
    for (const record of page) {
      if (record.size <= SMALL_ANSWER_BYTES) yield record;
      else {
        reserveBody(record.size);
        // By index, because the request may have been saved since the page was read.
        const whole = await queries.findWhole(endpointId, record.index);
        if (whole !== undefined) yield whole;
      }
    }
    before = page.at(-1)?.index;
    if (page.length < EXPORT_PAGE_SIZE || before === undefined) return;
  }
}

export const requestFinders = {
  async deleteRequest({ app, endpoint, params }) {
    expectFound(await app.store.findRequest(endpoint.id, parseRequestId(params.id), 0));
  },
} satisfies Finders;

/** Headers with which a browser stores captured content and does not run it. */
function downloadHeaders(type: string, filename: string) {
  return {
    'content-type': type,
    'content-disposition': `attachment; filename="${filename}"`,
    'content-security-policy': SANDBOX_POLICY,
  };
}

export const requestHandlers = {
  listSaved: (call) => listPage(call, 'saved'),
  listUnsaved: (call) => listPage(call, 'unsaved'),

  async getRequest(call) {
    const record = await findOne(call, parseRequestId(call.params.id));
    const signature = await call.app.signatures.verify(call.endpoint, record, closedSignal(call.reply));
    return wholeAnswer(call, record, { signature });
  },

  /** The exact bytes. */
  async getRequestBody(call) {
    const record = await findOne(call, parseRequestId(call.params.id));
    void call.reply.headers(downloadHeaders('application/octet-stream', `request-${record.index}.bin`));
    return new LargeAnswer(storedBytes(record), record.body ?? Buffer.alloc(0));
  },

  async saveRequest(call) {
    const { app, endpoint, body, reserve, request } = call;
    if (body.index < 0) throw new ProblemError('REQUEST_NOT_FOUND');
    // Reserved before saving, because a completed change must not end in a rejection.
    reserve(MAX_PREVIEW_BYTES);
    const result = await app.store.saveRequest(endpoint.id, body.index, {
      maxSaved: app.config.maxSavedPerEndpoint,
      bodyBytes: BODY_PREVIEW_BYTES,
    });
    const saved = showSaved(app, endpoint.id, result);
    if (!saved.bodyTruncated || prefersMinimal(request.headers['prefer']))
      return objectAnswer(MAX_PREVIEW_BYTES, saved);
    // If there is no memory for the whole body, the client may repeat the call.
    const record = await findOne(call, { savedId: saved.id });
    return wholeAnswer(call, record);
  },

  async saveRequests({ app, endpoint, body }) {
    const saved = new Map<number, number>();
    let isFull = false;
    for (let left: readonly number[] = body.indexes; left.length > 0;) {
      const step = await app.store.saveSome(endpoint.id, left, app.config.maxSavedPerEndpoint);
      app.live.publish({ kind: 'saved', endpointId: endpoint.id, indexes: step.changed });
      for (const { index, id } of step.saved) saved.set(index, id);
      isFull ||= step.isFull;
      ({ left } = step);
    }
    if (isFull && saved.size === 0) throw new ProblemError('SAVED_LIMIT');
    return [...saved].map(([index, id]) => ({ index, id }));
  },

  async restoreRequest({ app, endpoint, body: copy, longText, reserve }) {
    reserve(MAX_PREVIEW_BYTES);
    const body = copy.body === null ? null : await bytesOf(copy.body, longText, copy.bodyEncoding);
    const isText = body === null || isUtf8(body);
    const flatHeaders = copy.rawHeaders.flat();
    hideOwnCookies(flatHeaders);
    const head = encodeHead(copy.rawTarget, copy.sourceIp, isText, flatHeaders);
    const lost = {
      index: copy.index,
      method: copy.method,
      // A later capture is not older than this one.
      receivedAt: Math.min(Date.parse(copy.timestamp), app.now()),
      head: Buffer.from(head, 'latin1'),
      body,
    };
    const result = await app.store.restoreRequest(endpoint.id, lost, app.config.maxSavedPerEndpoint);
    if (result === 'other') throw invalid({ index: 'Another request with this index is stored' });
    return objectAnswer(MAX_PREVIEW_BYTES, showSaved(app, endpoint.id, result));
  },

  async deleteRequest({ app, endpoint, params }) {
    if (!(await app.store.deleteRequest(endpoint.id, parseRequestId(params.id))))
      throw new ProblemError('REQUEST_NOT_FOUND');
    app.live.publish({ kind: 'deleted', endpointId: endpoint.id, ids: [Number(params.id)] });
  },

  async deleteRequests({ app, endpoint, body }) {
    for (let left: readonly number[] = body.indexes; left.length > 0;) {
      const step = await app.store.deleteSome(endpoint.id, left);
      app.live.publish({ kind: 'deleted', endpointId: endpoint.id, ids: step.ids });
      ({ left } = step);
    }
  },

  async clearRequests({ app, endpoint }) {
    const below = await app.store.clearRequests(endpoint.id);
    if (below === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
    app.live.publish({ kind: 'clear', endpointId: endpoint.id, below });
    app.purgeSoon();
  },

  /** So that users can keep what a change of plan would delete. */
  async exportRequests(call) {
    const { app, reply, reserve } = call;
    const endpoints = await chosenEndpoints(call);
    const allBodyBytes = await app.store.storedBodyBytes(endpoints.map(({ id }) => id));
    // Memory at a time: a page of body beginnings, and one whole body.
    let bodyBytes = Math.min(app.config.maxBodyBytes, allBodyBytes);
    const rawBytes = EXPORT_PAGE_SIZE * SMALL_ANSWER_BYTES + bodyBytes;
    reserve(rawBytes);
    // Only a body that is stored during the export can be larger.
    const reserveBody = (bytes: number): void => {
      if (bytes > bodyBytes) reserve(bytes - bodyBytes);
      bodyBytes = Math.max(bodyBytes, bytes);
    };
    const day = new Date(app.now()).toISOString().slice(0, 10);
    void reply.headers(downloadHeaders('application/x-ndjson; charset=utf-8', `creel-export-${day}.ndjson`));
    return new LargeAnswer(rawBytes, linesOf(app.store, endpoints, reserveBody));
  },
} satisfies Handlers;
