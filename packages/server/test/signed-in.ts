import { unsavedId } from '@creel/contract';
import type { CapturedRequest, Endpoint, EndpointDetail } from '@creel/contract';
import { createTestClient } from './test-client.ts';
import type { TestClient } from './test-client.ts';

/** A registered user who makes public calls only. */
export interface SignedIn {
  /** Any call; the path starts with `/api`. Does not check the status. */
  readonly send: TestClient['send'];
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
}

let people = 0;

/** Registers a new user at this server. */
export async function signUp(origin: string): Promise<SignedIn> {
  people += 1;
  const username = `person-${process.pid}-${people}`;
  const client = createTestClient(origin);
  await client.call('register', {
    body: { username, password: 'wire-test-password', email: `${username}@example.com` },
  });
  const endpoint: SignedIn['endpoint'] = (uid) => client.call('getEndpoint', { params: { uid } });
  const named = (uid: string, index: number) => ({ params: { uid, id: unsavedId(index) } });
  return {
    send: client.send,
    createEndpoint: (body = {}) => client.call('createEndpoint', { body }),
    endpoint,
    unsaved: (uid) => client.call('listUnsaved', { params: { uid }, query: { limit: 500 } }),
    captured: (uid, index) => client.call('getRequest', named(uid, index)),
    bodyOf: async (uid, index) => Buffer.from(await client.call('getRequestBody', named(uid, index))),
    stored: async (uid) => (await endpoint(uid)).stats.total,
  };
}
