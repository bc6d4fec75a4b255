import type { Mailbox } from '../../../fixtures/mailbox.ts';
import type { TestClient } from './test-client.ts';

/** Confirms the email address of a user through the link that the server emails. */
export async function confirmEmail(client: TestClient, mailbox: Mailbox): Promise<void> {
  await client.call('requestEmailVerification', {});
  const [, token = ''] = /token=([\w-]+)/.exec((await mailbox.next()).text) ?? [];
  await client.call('verifyEmail', { body: { token } });
}

/** Captures requests one after the other. Their bodies are their numbers, except for GET. */
export async function captureMany(
  client: TestClient,
  uid: string,
  { count, method = 'POST', path = '' }: { readonly count: number; readonly method?: string; readonly path?: string },
): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const body = method === 'GET' ? {} : { body: `body ${n}` };
    const { status } = await client.send(`/h/${uid}${path}`, { method, ...body });
    if (status !== 200) throw new Error(`The capture was answered with ${status}.`);
  }
}
