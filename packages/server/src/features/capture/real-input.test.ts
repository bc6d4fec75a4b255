import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { exchange } from '../../../../../fixtures/raw-http.ts';
import { sendWithCurl } from '../../../../../fixtures/send.ts';
import { webhookFixtures } from '../../../../../fixtures/webhooks/all.ts';
import { headersFor, toRawHttp } from '../../../../../fixtures/webhooks/webhook-fixture.ts';
import type { WebhookFixture } from '../../../../../fixtures/webhooks/webhook-fixture.ts';
import { startTestServer } from '../../../test/test-server.ts';
import { expectKept, indexOf, startWireApp } from '../../../test/wire-app.ts';
import { openSqliteStore } from '../../database/sqlite/sqlite-store.ts';
import { QUERIES } from '../../queries.ts';

/** Webhooks of real senders are stored as sent, so that their signatures verify over what is read back. */
const app = await startWireApp();
afterAll(() => app.server.stop());

const named = (list: readonly WebhookFixture[]): [string, WebhookFixture][] =>
  list.map((fixture) => [fixture.name, fixture]);

describe.each(named(webhookFixtures))('%s', (_, fixture) => {
  test('over a socket: every header line and every byte', async () => {
    const index = indexOf(await exchange({ port: app.server.port }, toRawHttp(fixture, app.endpoint.url)));
    const rawHeaders = headersFor(fixture, app.endpoint.url);
    await expectKept(app, index, {
      method: fixture.method,
      path: fixture.path.split('?')[0] || '/',
      rawHeaders,
      body: fixture.body,
    });
  });

  test('through curl: the signature verifies over what is downloaded', async () => {
    expect(await sendWithCurl(fixture, app.endpoint.url)).toEqual({ status: 200, detail: '{"ok":true}' });
    const [newest] = await app.owner.unsaved(app.endpoint.uid);
    if (newest === undefined) throw new Error('nothing was stored');
    const body = await app.owner.bodyOf(app.endpoint.uid, newest.index);
    expect(fixture.verify(body, newest.rawHeaders, app.endpoint.url)).toBe(true);
    expect({ size: newest.size, method: newest.method }).toEqual({ size: fixture.body.length, method: fixture.method });
  });
});

describe('the source of an endpoint that was created without one', () => {
  const sourceAfter = async (names: string[], source?: string): Promise<string | null> => {
    const endpoint = await app.owner.createEndpoint(source === undefined ? {} : { source });
    for (const name of names) {
      const fixture = webhookFixtures.find((one) => one.name === name);
      if (fixture === undefined) throw new Error(`There is no webhook ${name}`);
      indexOf(await exchange({ port: app.server.port }, toRawHttp(fixture, endpoint.url)));
    }
    return (await app.owner.endpoint(endpoint.uid)).source;
  };

  test.each([
    ['Stripe', ['stripe-invoice-paid', 'github-push']],
    ['GitHub', ['github-push', 'stripe-invoice-paid']],
    ['Slack', ['slack-event', 'twilio-sms', 'shopify-orders-create']],
    ['Shopify', ['shopify-orders-create', 'github-push']],
  ])('is %s after %j: the first known label', async (source, names) => {
    expect(await sourceAfter(names)).toBe(source);
  });

  test('a given one stays', async () => {
    expect(await sourceAfter(['github-push'], 'My own')).toBe('My own');
  });

  /** The status of a GitHub event, and the source that the next call sees. `delay` holds back the source. */
  const sourceWith = async (delay: () => Promise<unknown>): Promise<[number, string | null]> => {
    const server = await startTestServer({
      openStore: async (dataDir) => {
        const store = await openSqliteStore(dataDir, QUERIES);
        const setDetectedSource = (id: number, source: string) =>
          delay().then(() => store.setDetectedSource(id, source));
        return { ...store, setDetectedSource };
      },
    });
    try {
      const { client, uid } = await server.registerOwner();
      const { status } = await client.send(`/h/${uid}`, { method: 'POST', headers: { 'x-github-event': 'push' } });
      return [status, (await client.call('getEndpoint', { params: { uid } })).source];
    } finally {
      await server.stop();
    }
  };

  test('is stored before the sender is answered', async () => {
    // A fraction of the 500 ms that an answer waits, because a busy machine adds to it.
    expect(await sourceWith(() => sleep(30))).toEqual([200, 'GitHub']);
  });

  test('that cannot be stored does not delay the answer', async () => {
    expect(await sourceWith(() => new Promise(() => undefined))).toEqual([200, null]);
    expect(await sourceWith(() => Promise.reject(new Error('no')))).toEqual([200, null]);
  });
});
