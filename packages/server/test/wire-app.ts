import { expect } from 'vitest';
import type { Endpoint } from '@creel/contract';
import { exchange, rawRequest } from '../../../fixtures/raw-http.ts';
import type { RawAnswer } from '../../../fixtures/raw-http.ts';
import type { HeaderPair } from '../../../fixtures/webhooks/webhook-fixture.ts';
import { metricOf } from './metric.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import { signUp } from './sign-up.ts';
import type { LoggedIn } from './sign-up.ts';

/** A server process, a logged-in user and an endpoint, for tests that write to sockets. */
export type WireApp = {
  readonly server: ServerProcess;
  readonly owner: LoggedIn;
  readonly endpoint: Endpoint;
  /** `/h/{uid}` */
  readonly base: string;
};

/** The request to send, which must be read back equal. */
export type Sent = {
  readonly method?: string;
  /** The part after `/h/{uid}`, including the query. */
  readonly path?: string;
  /** Between `Host` and `Content-Length`, which are always sent. */
  readonly headers?: readonly HeaderPair[];
  readonly body?: Buffer;
};

/** Starts all three. Stops the server if the registration fails. */
export async function startWireApp(settings: Readonly<Record<string, string>> = {}): Promise<WireApp> {
  const server = await startServerProcess(settings);
  try {
    const owner = await signUp(server.origin);
    const endpoint = await owner.createEndpoint();
    return { server, owner, endpoint, base: `/h/${endpoint.uid}` };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** The header lines of `Sent`: Host, the given ones, Content-Length. */
function linesOf(app: WireApp, sent: Sent): HeaderPair[] {
  const length: HeaderPair[] = [['Content-Length', String(sent.body?.length ?? 0)]];
  return [['Host', `127.0.0.1:${app.server.port}`], ...(sent.headers ?? []), ...length];
}

/** Sends it as one write on a new connection. */
export function send(app: WireApp, sent: Sent): Promise<RawAnswer> {
  const method = sent.method ?? 'POST';
  const head = [
    `${method} ${app.base}${sent.path ?? ''} HTTP/1.1`,
    ...linesOf(app, sent).map(([name, value]) => `${name}: ${value}`),
  ];
  return exchange({ port: app.server.port }, rawRequest(head, sent.body), { headOnly: method === 'HEAD' });
}

/** The index of a capture. Fails the test when the response is not valid. */
export function indexOf(answer: RawAnswer, headOnly = false): number {
  expect({ status: answer.status, type: answer.header('content-type') }).toEqual({
    status: 200,
    type: 'application/json',
  });
  if (!headOnly) expect(JSON.parse(answer.body.toString('utf8'))).toEqual({ ok: true });
  expect(answer.header('x-creel-request')).toMatch(/^\d+$/);
  return Number(answer.header('x-creel-request'));
}

/** The text of valid UTF-8, including byte order mark and NUL; undefined for other bytes. */
function textOf(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** The presentation of a body (docs/api.md, "Captured requests"). */
function shownBody(body: Buffer): { body: string | null; bodyEncoding: 'utf8' | 'base64' } {
  if (body.length === 0) return { body: null, bodyEncoding: 'utf8' };
  const text = textOf(body);
  return text === undefined
    ? { body: body.toString('base64'), bodyEncoding: 'base64' }
    : { body: text, bodyEncoding: 'utf8' };
}

/** Reads a stored request through every public call and compares each part with what was sent. */
export async function expectKept(
  app: WireApp,
  index: number,
  want: { method: string; path: string; rawHeaders: readonly HeaderPair[]; body: Buffer },
): Promise<void> {
  const { uid, id } = app.endpoint;
  const one = await app.owner.captured(uid, index);
  expect({ method: one.method, path: one.path, rawHeaders: one.rawHeaders }).toEqual({
    method: want.method,
    path: want.path,
    rawHeaders: want.rawHeaders,
  });
  expect({ id: one.id, index: one.index, endpointId: one.endpointId, saved: one.saved }).toEqual({
    id: -(1_000_000 + index),
    index,
    endpointId: id,
    saved: false,
  });
  const shown = shownBody(want.body);
  // Compared as a boolean, because a diff of megabytes is unreadable.
  expect({
    size: one.size,
    encoding: one.bodyEncoding,
    truncated: one.bodyTruncated,
    same: one.body === shown.body,
  }).toEqual({
    size: want.body.length,
    encoding: shown.bodyEncoding,
    truncated: false,
    same: true,
  });
  expect((await app.owner.bodyOf(uid, index)).equals(want.body)).toBe(true);
}

/** Sends it and reads it back equal. Returns its index. */
export async function expectCaptured(app: WireApp, sent: Sent): Promise<number> {
  const method = sent.method ?? 'POST';
  const index = indexOf(await send(app, sent), method === 'HEAD');
  const path = (sent.path ?? '').split('?')[0] ?? '';
  await expectKept(app, index, {
    method,
    path: path === '' ? '/' : path,
    rawHeaders: linesOf(app, sent),
    body: sent.body ?? Buffer.alloc(0),
  });
  return index;
}

/** The server still runs, logged nothing alarming, and accepts the next request. */
export async function expectUnharmed(app: WireApp): Promise<void> {
  await expectCaptured(app, { path: '/canary', body: Buffer.from('still here') });
  expect(app.server.ended()).toBe(null);
  await expect.poll(() => metricOf(app.server.origin, 'creel_body_bytes')).toBe(0);
  expect(app.server.output()).not.toMatch(/unhandled|uncaught|"level":(50|60)|TypeError|RangeError/i);
}
