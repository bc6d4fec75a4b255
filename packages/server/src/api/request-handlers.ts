import { BODY_PREVIEW_BYTES, indexOfUnsavedId, unsavedId } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { presentPreview, presentRequest } from '../live/present-request.ts';
import { ProblemError } from '../problem.ts';
import type { RequestName, SearchQuery } from '../storage/store.ts';
import type { Call, Handlers } from './call.ts';
import { setNextPage } from './paging.ts';

/** A request by the id in the path; what can't be an id names nothing. */
function requestName(id: string): RequestName {
  const number = /^-?\d{1,15}$/.test(id) ? Number(id) : Number.NaN;
  if (number > 0) return { savedId: number };
  const index = indexOfUnsavedId(number);
  if (index === undefined) throw new ProblemError('REQUEST_NOT_FOUND');
  return { index };
}

async function listPage(
  call: Call<'listSaved'> | Call<'listUnsaved'>,
  which: 'saved' | 'unsaved',
): Promise<CapturedRequest[]> {
  const { app, endpoint, query, reply, request } = call;
  const records = await app.store.listRequests({
    endpointId: endpoint.id,
    which,
    // One more than asked for tells whether there is a next page.
    limit: query.limit + 1,
    before: query.before,
    method: query.method,
    bodyBytes: BODY_PREVIEW_BYTES,
  });
  const page = records.slice(0, query.limit);
  const last = page.at(-1);
  if (records.length > page.length && last !== undefined)
    setNextPage(request, reply, { limit: query.limit, before: last.index });
  return page.map(presentPreview);
}

async function findOne(call: Call<'getRequest'> | Call<'getRequestBody'>) {
  const record = await call.app.store.findRequest(call.endpoint.id, requestName(call.params.id));
  if (record === undefined) throw new ProblemError('REQUEST_NOT_FOUND');
  return record;
}

function searchCursor(before: string | undefined): SearchQuery['before'] {
  if (before === undefined) return undefined;
  const [receivedAt = 0, endpointId = 0, index = 0] = before.split('-').map(Number);
  return { receivedAt, endpointId, index };
}

export const requestHandlers = {
  listSaved: (call) => listPage(call, 'saved'),
  listUnsaved: (call) => listPage(call, 'unsaved'),

  async getRequest(call) {
    return presentRequest(await findOne(call));
  },

  /** The exact bytes; a type that no browser runs, and no page that it could run in (contract 2). */
  async getRequestBody(call) {
    const record = await findOne(call);
    void call.reply.headers({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="request-${record.index}.bin"`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    });
    return record.body === null
      ? Buffer.alloc(0)
      : Buffer.from(record.body.buffer, record.body.byteOffset, record.body.length);
  },

  async saveRequest({ app, endpoint, body }) {
    const result = await app.store.saveRequest(
      endpoint.id,
      body.index,
      app.config.maxSavedPerEndpoint,
      BODY_PREVIEW_BYTES,
    );
    if (result === undefined) throw new ProblemError('REQUEST_NOT_FOUND');
    if (result === 'limit') throw new ProblemError('SAVED_LIMIT');
    const request = presentPreview(result.record);
    if (result.changed) app.live.publish(endpoint.id, { type: 'saved', oldId: unsavedId(request.index), request });
    return request;
  },

  async deleteRequest({ app, endpoint, params }) {
    if (!(await app.store.deleteRequest(endpoint.id, requestName(params.id))))
      throw new ProblemError('REQUEST_NOT_FOUND');
    app.live.publish(endpoint.id, { type: 'deleted', id: Number(params.id) });
  },

  async clearRequests({ app, endpoint }) {
    await app.store.clearRequests(endpoint.id);
    app.live.publish(endpoint.id, { type: 'clear' });
  },

  async search({ app, signedIn, query, request, reply }) {
    const records = await app.store.searchRequests({
      userId: signedIn.user.id,
      text: query.q,
      limit: query.limit + 1,
      before: searchCursor(query.before),
      bodyBytes: BODY_PREVIEW_BYTES,
    });
    const page = records.slice(0, query.limit);
    const last = page.at(-1);
    if (records.length > page.length && last !== undefined) {
      setNextPage(request, reply, {
        q: query.q,
        limit: query.limit,
        before: `${last.receivedAt}-${last.endpointId}-${last.index}`,
      });
    }
    return page.map((record) => ({ ...presentPreview(record), endpointUid: record.endpointUid }));
  },
} satisfies Handlers;
