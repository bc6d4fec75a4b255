import { afterAll, describe, expect, test } from 'vitest';
import { exchange, rawRequest } from '../../../../../fixtures/raw-http.ts';
import type { HeaderPair } from '../../../../../fixtures/webhooks/webhook-fixture.ts';
import { expectKept, startWireApp } from '../../../test/wire-app.ts';
import { slackChallenge } from './capture-handler.ts';

const CHALLENGE = '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P';
const verification = (challenge: unknown = CHALLENGE, type = 'url_verification'): string =>
  JSON.stringify({ token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl', challenge, type });

describe('Slack verifies a URL:', () => {
  const started = startWireApp();
  afterAll(async () => (await started).server.stop());
  const body = Buffer.from(verification());

  test.each<[string, HeaderPair]>([
    ['a connection that stays open', ['Connection', 'keep-alive']],
    ['a connection that ends', ['Connection', 'close']],
    ["Node's parser", ['Expect', '100-continue']],
  ])('the response of %s has the challenge, and the request is stored', async (_, header) => {
    const app = await started;
    const rawHeaders: HeaderPair[] = [['Host', 'h'], header, ['Content-Length', String(body.length)]];
    const head = [`POST ${app.base} HTTP/1.1`, ...rawHeaders.map(([name, value]) => `${name}: ${value}`)];
    const answer = await exchange({ port: app.server.port }, rawRequest(head, body));
    expect([answer.status, answer.header('content-length')]).toEqual([200, String(answer.body.length)]);
    expect(JSON.parse(answer.body.toString())).toEqual({ ok: true, challenge: CHALLENGE });
    const index = Number(answer.header('x-creel-request'));
    await expectKept(app, index, { method: 'POST', path: '/', rawHeaders, body });
  });
});

describe('no challenge is repeated from', () => {
  test.each([
    ['another method', 'PUT', verification()],
    ['another type', 'POST', verification(CHALLENGE, 'event_callback')],
    ['markup', 'POST', verification('<script>')],
    ['characters outside ASCII', 'POST', verification('ü')],
    ['a number', 'POST', verification(7)],
    ['invalid JSON', 'POST', verification().slice(0, -1)],
    ['a list', 'POST', `[${verification()}]`],
    ['a long body', 'POST', `${verification()}${' '.repeat(512)}`],
    ['no body', 'POST', null],
  ])('%s', (_, method, body) => {
    expect(slackChallenge('POST', Buffer.from(verification()))).toBe(CHALLENGE);
    expect(slackChallenge(method, body === null ? null : Buffer.from(body))).toBeUndefined();
  });
});
