import { METHODS } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { exchange, rawRequest } from '../../../../../fixtures/raw-http.ts';
import { expectCaptured, expectKept, expectUnharmed, indexOf, send, startWireApp } from '../../../test/wire-app.ts';

/** Methods and targets on raw sockets, read back equal (docs/api.md, "Captured requests"). */
const app = await startWireApp();
afterAll(() => app.server.stop());

const host = (): string => `Host: 127.0.0.1:${app.server.port}`;
const ask = (target: string, method = 'POST') =>
  exchange({ port: app.server.port }, rawRequest([`${method} ${target} HTTP/1.1`, host(), 'Content-Length: 0']), {
    headOnly: method === 'HEAD',
  });

describe('methods', () => {
  test.each(METHODS.filter((method) => method !== 'CONNECT'))('%s is captured, with its body', async (method) => {
    await expectCaptured(app, {
      method,
      path: '/m?x=1',
      headers: [['X-Probe', method]],
      body: Buffer.from(`body of ${method}`),
    });
  });

  test('the parser knows the important ones', () => {
    expect(METHODS).toEqual(expect.arrayContaining(['QUERY', 'PROPFIND', 'TRACE', 'M-SEARCH', 'SEARCH', 'PURGE']));
  });

  test('CONNECT has no path: 405, and the connection ends', async () => {
    const answer = await exchange(
      { port: app.server.port },
      rawRequest(['CONNECT example.com:443 HTTP/1.1', 'Host: example.com:443']),
    );
    expect(answer.status).toBe(405);
    expect(answer.header('connection')).toBe('close');
    expect(answer.header('allow')).toBe('GET, POST');
    expect(answer.header('x-content-type-options')).toBe('nosniff');
    expect(answer.header('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
    await expectUnharmed(app);
  });

  test.each(['FOO', 'get', 'Post'])('%s is unknown to the parser: 400', async (method) => {
    expect((await ask(app.base, method)).status).toBe(400);
  });
});

describe('a target with characters that must be encoded', () => {
  test.each(['/café', '?q=café'])('%s is rejected with a sentence that says what to do', async (target) => {
    const answer = await ask(`${app.base}${target}`);
    expect(answer.status).toBe(400);
    expect(answer.header('connection')).toBe('close');
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      error: 'The URL is not valid. Percent-encode every character that is not ASCII.',
      code: 'BAD_REQUEST',
    });
    await expectUnharmed(app);
  });
});

describe('paths are kept as sent', () => {
  const paths = [
    '',
    '/',
    '//',
    '///x//',
    '/./',
    '/../x',
    '/a/../../b',
    '/%2e%2e/%2E%2E/x',
    '/%00',
    '/a%2fb%5cc',
    '/%zz/%/%e',
    '/caf%C3%A9/caf%c3%a9',
    '/%ff%fe',
    "/a;b=c,d/:x@y!$&'()*+~-._",
    '/"<script>alert(1)</script>\\^`{|}',
    '/anything',
    '/h/',
    '/x#fragment',
    `/${'long/'.repeat(1600)}`,
  ];
  test.each(paths)('%s', async (path) => {
    await expectCaptured(app, { path });
  });

  test('another endpoint is never reached through dots', async () => {
    const other = await app.owner.createEndpoint();
    for (const detour of ['/../', '/%2e%2e/', '/..%2f', '/./../'])
      await expectCaptured(app, { path: `${detour}${other.uid}` });
    expect(await app.owner.stored(other.uid)).toBe(0);
  });
});

describe('queries', () => {
  test.each(['', '/', '?', '/?', '/a?b=%7e&a=x%20y+z&b&%zz', '?2=b&1=a', '/a?b?c=#d'])(
    'the target %j is told as it was sent',
    async (path) => {
      const index = await expectCaptured(app, { path });
      expect((await app.owner.captured(app.endpoint.uid, index)).rawTarget).toBe(path);
    },
  );

  const queryOf = async (query: string): Promise<unknown> => {
    const index = await expectCaptured(app, { path: `/q?${query}` });
    return (await app.owner.captured(app.endpoint.uid, index)).queryParams;
  };

  test('a repeated name has the list of its values in order', async () => {
    expect(await queryOf('a=1&b=2&a=3&a=1')).toEqual({ a: ['1', '3', '1'], b: '2' });
  });

  test.each([
    ['empty=&bare&=nameless', { empty: '', bare: '', '': 'nameless' }],
    ['a=x%20y+z&b=%C3%A9', { a: 'x y z', b: 'é' }],
    ['a=%zz&b=%', { a: '%zz', b: '%' }],
    ['a=1;b=2', { a: '1;b=2' }],
    ['a=b=c?d', { a: 'b=c?d' }],
    ['constructor=1&toString=2&hasOwnProperty=3', { constructor: '1', toString: '2', hasOwnProperty: '3' }],
    ['', {}],
  ])('?%s', async (query, wanted) => {
    const shown = await queryOf(query);
    expect(Object.entries(shown ?? {})).toEqual(Object.entries(wanted));
  });

  test('8 KiB of query, 500 names', async () => {
    const query = Array.from({ length: 500 }, (_, at) => `name${at}=value${at}`).join('&');
    expect(query.length).toBeGreaterThan(8192);
    expect(await queryOf(query)).toMatchObject({ name0: 'value0', name499: 'value499' });
  });

  test('names of the prototype are plain names, and change no prototype', async () => {
    const index = await expectCaptured(app, { path: '/q?__proto__=1&__proto__[x]=2&__proto__=3' });
    const answer = await app.owner.send(`/api/endpoints/${app.endpoint.uid}/requests/${-1_000_000 - index}`);
    expect(await answer.text()).toContain('"queryParams":{"__proto__":["1","3"],"__proto__[x]":"2"}');
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });
});

describe('other forms of targets', () => {
  test('absolute form is routed by its path; its host is ignored', async () => {
    const answer = await ask(`http://evil.example:99${app.base}/abs/%2e?x=1`);
    const rawHeaders = [['Host', `127.0.0.1:${app.server.port}`] as const, ['Content-Length', '0'] as const];
    await expectKept(app, indexOf(answer), { method: 'POST', path: '/abs/%2e', rawHeaders, body: Buffer.alloc(0) });
  });

  test.each(['http://evil.example/', 'http://evil.example', 'https://evil.example/h/nobody', '*', '//', '/'])(
    '%s breaks nothing',
    async (target) => {
      const answer = await ask(target, 'OPTIONS');
      expect([200, 204, 302, 303, 404, 405]).toContain(answer.status);
      await expectUnharmed(app);
    },
  );

  test.each([
    ['unknown', '/h/nobody-has-this-one-0000'],
    ['no uid', '/h/'],
    ['no slash', '/h'],
    ['one character less', 'LESS'],
    ['one more', 'MORE'],
    ['other case', 'CASE'],
    ['parameters', 'BASE;x'],
    ['NUL', 'BASE%00'],
    ['escaped slash', 'BASE%2f..%2fB'],
    ['escaped character', 'ESCAPED'],
    ['8 KiB', `/h/${'a'.repeat(8192)}`],
    ['upper-case prefix', 'UPPER'],
    ['doubled slashes', 'DOUBLED'],
    ['prototype', '/h/__proto__'],
    ['constructor', '/h/constructor/x'],
  ])('a uid that is not exactly the uid (%s): 404, and nothing is stored', async (_, shape) => {
    const uid = app.endpoint.uid;
    const flipped = [...uid]
      .map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
      .join('');
    const target =
      {
        LESS: `/h/${uid.slice(0, -1)}`,
        MORE: `/h/${uid}a`,
        CASE: `/h/${flipped}`,
        ESCAPED: `/h/%${uid.charCodeAt(0).toString(16)}${uid.slice(1)}`,
        UPPER: `/H/${uid}`,
        DOUBLED: `//h//${uid}`,
      }[shape] ?? shape.replace('BASE', app.base);
    const before = await app.owner.stored(uid);
    const answer = await ask(target);
    expect([400, 404]).toContain(answer.status);
    expect(await app.owner.stored(uid)).toBe(before);
  });

  test('raw UTF-8, DEL and a tab in the target: 400', async () => {
    for (const bad of ['/caf\xc3\xa9', '/\x7f', '/a\tb']) expect((await ask(app.base + bad)).status).toBe(400);
    await expectUnharmed(app);
  });
});

describe('responses', () => {
  test('an unknown uid is a problem, with the headers that isolate it from the dashboard', async () => {
    const answer = await ask('/h/nobody-has-this-one-0000');
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body.toString('utf8'))).toMatchObject({ code: 'ENDPOINT_NOT_FOUND' });
  });

  test.each(['captured', 'unknown'])('every answer can be read from any page and runs nothing (%s)', async (kind) => {
    const answer = kind === 'captured' ? await send(app, {}) : await ask('/h/nobody-has-this-one-0000');
    expect(answer.header('access-control-allow-origin')).toBe('*');
    expect(answer.header('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(answer.header('x-content-type-options')).toBe('nosniff');
    expect(answer.header('cross-origin-resource-policy')).toBe('cross-origin');
  });

  test('indexes are 0, 1, 2, … and clearing does not reset them', async () => {
    const fresh = await app.owner.createEndpoint();
    const next = async (): Promise<number> => indexOf(await ask(`/h/${fresh.uid}`));
    expect([await next(), await next(), await next()]).toEqual([0, 1, 2]);
    expect((await app.owner.send(`/api/endpoints/${fresh.uid}/requests`, { method: 'DELETE' })).status).toBe(204);
    expect(await next()).toBe(3);
  });

  test('the peer is the source; X-Forwarded-For is not trusted', async () => {
    const index = await expectCaptured(app, { headers: [['X-Forwarded-For', '203.0.113.9']] });
    expect((await app.owner.captured(app.endpoint.uid, index)).sourceIp).toBe('127.0.0.1');
  });
});

describe('CORS preflight', () => {
  const options = (...headers: string[]) =>
    exchange({ port: app.server.port }, rawRequest([`OPTIONS ${app.base}/x HTTP/1.1`, host(), ...headers]));

  test('a true preflight gets 204 with the requested method and headers, and is not captured', async () => {
    const before = await app.owner.stored(app.endpoint.uid);
    const answer = await options(
      'Origin: https://app.example',
      'Access-Control-Request-Method: PATCH',
      'Access-Control-Request-Headers: x-one, content-type',
    );
    expect(answer.status).toBe(204);
    expect(answer.header('access-control-allow-origin')).toBe('*');
    expect(answer.header('access-control-allow-methods')).toContain('PATCH');
    expect(answer.header('access-control-allow-headers')).toContain('x-one');
    expect(answer.header('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(await app.owner.stored(app.endpoint.uid)).toBe(before);
  });

  test.each([
    ['Access-Control-Request-Private-Network: true', 'true'],
    ['X-Other: 1', undefined],
  ])('private networks are allowed to who asks for them (%s)', async (line, allowed) => {
    const answer = await options('Origin: https://app.example', 'Access-Control-Request-Method: POST', line);
    expect(answer.status).toBe(204);
    expect(answer.header('access-control-allow-private-network')).toBe(allowed);
  });

  test.each([['Origin: https://app.example'], ['Access-Control-Request-Method: PATCH'], ['X-Nothing: 1']])(
    'any other OPTIONS is captured (%s)',
    async (header) => {
      expect(indexOf(await options(header))).toBeGreaterThanOrEqual(0);
    },
  );
});
