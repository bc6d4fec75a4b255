import { unsavedId } from '@creel/contract';
import type { OperationInput } from '@creel/contract';
import { createTestClient } from './test-client.ts';

/** A user who is logged in and makes public calls only. */
export type LoggedIn = Awaited<ReturnType<typeof signUp>>;

let people = 0;

/** Registers a new user at this server. */
export async function signUp(origin: string) {
  people += 1;
  const username = `person-${process.pid}-${people}`;
  const client = createTestClient(origin);
  await client.call('register', {
    body: { username, password: 'wire-test-password', email: `${username}@example.com` },
  });
  const endpoint = (uid: string) => client.call('getEndpoint', { params: { uid } });
  const named = (uid: string, index: number) => ({ params: { uid, id: unsavedId(index) } });
  return {
    /** Any call; the path starts with `/api`. Does not check the status. */
    send: client.send,
    createEndpoint: (body: OperationInput<'createEndpoint'>['body'] = {}) => client.call('createEndpoint', { body }),
    endpoint,
    /** The newest unsaved requests, at most 500. */
    unsaved: (uid: string) => client.call('listUnsaved', { params: { uid }, query: { limit: 500 } }),
    /** One unsaved request, whole. */
    captured: (uid: string, index: number) => client.call('getRequest', named(uid, index)),
    /** The exact bytes of an unsaved request's body. */
    bodyOf: async (uid: string, index: number) => Buffer.from(await client.call('getRequestBody', named(uid, index))),
    /** Number of stored requests. */
    stored: async (uid: string) => (await endpoint(uid)).stats.total,
  };
}
