import { capturedRequestSchema, endpointDetailSchema, endpointSchema, unsavedId } from '@creel/contract';
import type { CapturedRequest, Endpoint, EndpointDetail } from '@creel/contract';
import { CookieJar } from '../../../fixtures/cookie-jar.ts';

/** A registered user who makes public calls only. */
export type SignedIn = {
  /** Any call; the path starts with `/api`. Does not check the status. */
  readonly call: (path: string, init?: { method?: string; json?: unknown }) => Promise<globalThis.Response>;
  readonly createEndpoint: (input?: { name?: string; source?: string; autoSaveEnabled?: boolean }) => Promise<Endpoint>;
  readonly endpoint: (uid: string) => Promise<EndpointDetail>;
  /** The newest unsaved requests, at most 500. */
  readonly unsaved: (uid: string) => Promise<CapturedRequest[]>;
  /** One unsaved request, whole. */
  readonly captured: (uid: string, index: number) => Promise<CapturedRequest>;
  /** The exact bytes of an unsaved request's body. */
  readonly bodyOf: (uid: string, index: number) => Promise<Buffer>;
  /** Number of stored requests. */
  readonly stored: (uid: string) => Promise<number>;
};

let people = 0;

async function expectStatus(answer: globalThis.Response, status: number): Promise<globalThis.Response> {
  if (answer.status === status) return answer;
  throw new Error(`${answer.url} answered ${answer.status}: ${await answer.text()}`);
}

/** Registers a new user at this server. */
export async function signUp(origin: string): Promise<SignedIn> {
  people += 1;
  const username = `person-${process.pid}-${people}`;
  const jar = new CookieJar();
  const registered = await jar.fetch(`${origin}/api/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: 'wire-test-password', email: `${username}@example.com` }),
  });
  await expectStatus(registered, 201);

  const call: SignedIn['call'] = (path, { method = 'GET', json } = {}) =>
    jar.fetch(origin + path, {
      method,
      headers: json === undefined ? {} : { 'content-type': 'application/json' },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
  const get = async (path: string): Promise<unknown> => (await expectStatus(await call(path), 200)).json();
  const endpoint = async (uid: string): Promise<EndpointDetail> =>
    endpointDetailSchema.parse(await get(`/api/endpoints/${uid}`));
  return {
    call,
    createEndpoint: async (input = {}) => {
      const created = await expectStatus(await call('/api/endpoints', { method: 'POST', json: input }), 201);
      return endpointSchema.parse(await created.json());
    },
    endpoint,
    unsaved: async (uid) =>
      capturedRequestSchema.array().parse(await get(`/api/endpoints/${uid}/temp-requests?limit=500`)),
    captured: async (uid, index) =>
      capturedRequestSchema.parse(await get(`/api/endpoints/${uid}/requests/${unsavedId(index)}`)),
    bodyOf: async (uid, index) => {
      const answer = await expectStatus(await call(`/api/endpoints/${uid}/requests/${unsavedId(index)}/body`), 200);
      return Buffer.from(await answer.arrayBuffer());
    },
    stored: async (uid) => (await endpoint(uid)).stats.total,
  };
}
