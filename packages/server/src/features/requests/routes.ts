import { isUtf8 } from 'node:buffer';
import { encodeHead } from '../../database/stored-request.ts';
import type { RequestName, RequestRecord } from '../../database/stored-request.ts';
import { BODY_PREVIEW_BYTES, MAX_HEAD_BYTES, unsavedId } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { requestName, presentLarge, presentPreview } from './service.ts';
import type { AppContext } from '../../app-context.ts';
import type { SaveResult } from './change-queries.ts';
import { ProblemError, invalid } from '../../http/problem.ts';
import { closedSignal, setNextPage } from '../../http/call.ts';
import { freeBytes } from '../../http/body-buffer.ts';
import type { Call, Handlers } from '../../http/call.ts';
import { LargeAnswer, SMALL_ANSWER_BYTES, listAnswer, objectAnswer, rawBytesOf } from '../../http/large-answer.ts';

/** Maximum stored bytes of a list item: a head, and the beginning of a body. */
const MAX_PREVIEW_BYTES = MAX_HEAD_BYTES + BODY_PREVIEW_BYTES;

async function listPage(
  call: Call<'listSaved'> | Call<'listUnsaved'>,
  which: 'saved' | 'unsaved',
): Promise<LargeAnswer> {
  const { app, endpoint, query, reply, request } = call;
  const records = await app.store.listRequests({
    endpointId: endpoint.id,
    which,
    // Reads one more than requested, to know whether there is a next page.
    limit: query.limit + 1,
    before: query.before,
    method: query.method,
    bodyBytes: BODY_PREVIEW_BYTES,
  });
  const page = records.slice(0, query.limit);
  call.reserve(rawBytesOf(page));
  const last = page.at(-1);
  if (records.length > page.length && last !== undefined)
    setNextPage(request, reply, { limit: query.limit, before: last.index });
  return listAnswer(page, presentPreview);
}

type CallOnEndpoint = Pick<Call<'getRequest'>, 'app' | 'endpoint' | 'reserve'>;

/** A request with its whole body. Its memory is reserved before it is read. */
async function findOne({ app, endpoint, reserve }: CallOnEndpoint, name: RequestName) {
  const beginning = await app.store.findRequest(endpoint.id, name, SMALL_ANSWER_BYTES);
  if (beginning === undefined) throw new ProblemError('REQUEST_NOT_FOUND');
  reserve(beginning.head.length + beginning.size);
  if (beginning.size <= SMALL_ANSWER_BYTES) return beginning;
  const whole = await app.store.findRequest(endpoint.id, name);
  if (whole === undefined) throw new ProblemError('REQUEST_NOT_FOUND');
  return whole;
}

/** A request with its whole body, whose memory is freed when it is written. */
function wholeAnswer(
  { whenDone }: Pick<Call<'getRequest'>, 'whenDone'>,
  record: RequestRecord,
  more: object = {},
): LargeAnswer {
  // Without this, V8 frees it late, because large bodies are few objects.
  whenDone(() => record.body && freeBytes(record.body));
  return objectAnswer(rawBytesOf([record]), { ...presentLarge(record), ...more });
}

/** The saved request, with the beginning of its body. Viewers see a change. @throws ProblemError if it was not saved */
function showSaved(app: AppContext, endpointId: number, result: SaveResult): CapturedRequest {
  if (result === undefined) throw new ProblemError('REQUEST_NOT_FOUND');
  if (result === 'limit') throw new ProblemError('SAVED_LIMIT');
  const request = presentPreview(result.record);
  if (result.changed) app.live.publish(endpointId, { type: 'saved', oldId: unsavedId(request.index), request });
  return request;
}

/** True if the client wants a short answer to a change (RFC 7240, section 4.2). */
const prefersMinimal = (prefer: string | string[] | undefined): boolean =>
  /(^|[\s,;])return\s*=\s*"?minimal\b/i.test(String(prefer ?? ''));

export const requestHandlers = {
  listSaved: (call) => listPage(call, 'saved'),
  listUnsaved: (call) => listPage(call, 'unsaved'),

  async getRequest(call) {
    const record = await findOne(call, requestName(call.params.id));
    const signature = await call.app.signatures.verify(call.endpoint, record, closedSignal(call.reply));
    return wholeAnswer(call, record, { signature });
  },

  /** The exact bytes, with a content type and policy that prevent a browser from running them. */
  async getRequestBody(call) {
    const record = await findOne(call, requestName(call.params.id));
    void call.reply.headers({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="request-${record.index}.bin"`,
      'content-security-policy': "sandbox; default-src 'none'",
    });
    return new LargeAnswer(rawBytesOf([record]), record.body ?? Buffer.alloc(0));
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

  async restoreRequest({ app, endpoint, body: copy, reserve }) {
    reserve(MAX_PREVIEW_BYTES);
    const body = copy.body === null ? null : Buffer.from(copy.body, copy.bodyEncoding);
    const isText = body === null || isUtf8(body);
    const head = encodeHead(copy.rawTarget, copy.sourceIp, isText, copy.rawHeaders.flat());
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
    if (!(await app.store.deleteRequest(endpoint.id, requestName(params.id))))
      throw new ProblemError('REQUEST_NOT_FOUND');
    app.live.publish(endpoint.id, { type: 'deleted', id: Number(params.id) });
  },

  async clearRequests({ app, endpoint }) {
    const below = await app.store.clearRequests(endpoint.id);
    if (below === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
    app.live.publish(endpoint.id, { type: 'clear', below });
    app.purgeSoon();
  },
} satisfies Handlers;
