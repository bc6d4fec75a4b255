import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unsavedId } from '@creel/contract';
import { openLive, shows } from '../../../test/live-viewer.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestServer } from '../../../test/test-server.ts';
import { hideOwnCookies } from '../../http/cookies.ts';

test.each([
  ['a=1; b=2', 'a=1; b=2'],
  ['creel_session=secret', 'creel_session=hidden-by-creel'],
  ['a=1; creel_session=secret; b=2', 'a=1; creel_session=hidden-by-creel; b=2'],
  [
    '__Host-creel_session=secret;creel_browser=1.2~3',
    '__Host-creel_session=hidden-by-creel;creel_browser=hidden-by-creel',
  ],
  ['creel_session=', 'creel_session=hidden-by-creel'],
  [
    '__Host-creel_attempt_a-B_1=x; creel_identity_c=y',
    '__Host-creel_attempt_a-B_1=hidden-by-creel; creel_identity_c=hidden-by-creel',
  ],
  ['creel_session =\tsecret; b=2', 'creel_session =\thidden-by-creel; b=2'],
  ['theirs=creel_session; my_creel_x=1', 'theirs=creel_session; my_creel_x=1'],
  ['creel_foo=2; creel_sessions=3', 'creel_foo=2; creel_sessions=3'],
])('%s is kept as %s', (sent, kept) => {
  for (const name of ['Cookie', 'cookie', 'COOKIE']) {
    const headers = ['Host', 'creel_session=not a cookie', name, sent];
    hideOwnCookies(headers);
    expect(headers).toEqual(['Host', 'creel_session=not a cookie', name, kept]);
  }
});

describe("a logged-in user who opens another user's capture URL", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  test('reveals no session: not stored, not shown, not sent live, not found', async () => {
    const [owner, visitor] = [await server.register(), await server.register()];
    const params = { uid: (await owner.client.call('createEndpoint', { body: {} })).uid };
    await using viewer = await openLive(owner.client, params.uid);
    await viewer.until((messages) => messages.length > 0);
    let frames = '';
    viewer.socket.on('message', (frame) => (frames += String(frame)));
    await visitor.client.send(`/h/${params.uid}`, { headers: { cookie: `mine=kept; ${visitor.client.jar.header()}` } });
    const { rawHeaders, headers } = await owner.client.call('getRequest', { params: { ...params, id: unsavedId(0) } });
    const hidden = 'mine=kept; creel_session=hidden-by-creel; creel_browser=hidden-by-creel';
    expect(headers['cookie']).toBe(hidden);
    expect(rawHeaders.find(([name]) => name === 'cookie')).toEqual(['cookie', hidden]);
    await viewer.until(shows(0));
    for (const secret of [
      visitor.client.jar.get('creel_session') ?? '',
      visitor.client.jar.get('creel_browser') ?? '',
    ]) {
      expect(secret.length).toBeGreaterThan(40);
      expect(frames).not.toContain(secret);
      // Without quotation marks, a leading hyphen would negate it.
      expect(await owner.client.call('search', { query: { q: `"${secret}"` } })).toEqual([]);
    }
    expect(frames).toContain('hidden-by-creel');
  });
});
