import { describe, expect, test, vi } from 'vitest';
import { ApiError, createClient, nextLink } from './client.ts';
import type { ClientOptions } from './client.ts';

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** A client whose server returns this response, and the requests that it sent. */
function clientOf(answer: () => Response | Promise<Response>, options: ClientOptions = {}) {
  const sent: Sent[] = [];
  const fetchOnce: typeof fetch = async (url, init = {}) => {
    sent.push({ url: String(url), init });
    return answer();
  };
  return { client: createClient({ baseUrl: 'http://h', fetch: fetchOnce, ...options }), sent };
}

const json =
  (value: unknown, init: ResponseInit = {}) =>
  () =>
    new Response(JSON.stringify(value), init);

/** The error that a call throws. */
async function errorOf(answer: () => Response | Promise<Response>): Promise<ApiError> {
  const { client } = clientOf(answer);
  const thrown: unknown = await client.call('getUser', {}).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(ApiError);
  return thrown instanceof ApiError ? thrown : new ApiError(-1, '');
}

describe("the message of an error is '{status}: {sentence}'", () => {
  test.each<[string, string | null, ResponseInit, string]>([
    ['the message', '{"message":"the message","error":"the error"}', { status: 400 }, '400: the message'],
    ['else the error', '{"error":"the error"}', { status: 403 }, '403: the error'],
    ['a message that is empty is none', '{"message":"","error":"the error"}', { status: 403 }, '403: the error'],
    ['a message that is no text is none', '{"message":{"a":1},"error":"the error"}', { status: 500 }, '500: the error'],
    [
      'else the text as it is',
      '<h1>Bad Gateway</h1>',
      { status: 502, statusText: 'Bad Gateway' },
      '502: <h1>Bad Gateway</h1>',
    ],
    ['JSON without either is text', '{"reason":"x"}', { status: 500 }, '500: {"reason":"x"}'],
    ['JSON that is no object is text', '[1]', { status: 500 }, '500: [1]'],
    ['null is text', 'null', { status: 500 }, '500: null'],
    ['broken JSON is text', '{"message":', { status: 500 }, '500: {"message":'],
    ['else the status text', null, { status: 504, statusText: 'Gateway Timeout' }, '504: Gateway Timeout'],
  ])('%s', async (_what, body, init, text) => {
    expect((await errorOf(() => new Response(body, init))).message).toBe(text);
  });

  test('the sentence contains only text for users', async () => {
    expect((await errorOf(json({ message: 'Please log in first.' }, { status: 401 }))).sentence).toBe(
      'Please log in first.',
    );
    expect((await errorOf(() => new Response('<h1>nginx</h1>', { status: 502 }))).sentence).toBe('');
  });

  test('has the code, the fields and the time to wait', async () => {
    const problem = { error: 'e', message: 'm', code: 'RATE_LIMITED', fields: { name: 'too short' } };
    const error = await errorOf(json(problem, { status: 429, headers: { 'retry-after': '17' } }));
    expect(error).toMatchObject({ status: 429, code: 'RATE_LIMITED', fields: { name: 'too short' }, retryAfter: 17 });
  });

  test('drops fields with an unexpected type and keeps the others', async () => {
    const problem = { message: 'm', code: 7, fields: ['x'] };
    const error = await errorOf(
      json(problem, { status: 400, headers: { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' } }),
    );
    expect(error).toMatchObject({ message: '400: m', code: undefined, fields: {}, retryAfter: undefined });
  });

  test('no response: status 0 and a sentence', async () => {
    const error = await errorOf(() => Promise.reject(new TypeError('fetch failed')));
    expect(error).toMatchObject({
      status: 0,
      sentence: 'The server could not be reached. Please check your connection and try again.',
    });
  });

  test('an interrupted response counts as no response', async () => {
    const broken = () =>
      new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError('terminated')) }));
    expect(await errorOf(broken)).toMatchObject({ status: 0 });
  });

  test('a response that does not match the schema is an error', async () => {
    expect(await errorOf(json({ id: 'one' }))).toMatchObject({ status: 200, code: 'BAD_ANSWER' });
    expect(await errorOf(json(null))).toMatchObject({ code: 'BAD_ANSWER' });
  });

  test('the page of a captive portal is an error without a code, also for a call without a response body', async () => {
    const { client } = clientOf(() => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }));
    const expected = { name: 'ApiError', status: 200, code: undefined };
    await expect(client.call('getUser', {})).rejects.toMatchObject(expected);
    await expect(client.call('logout', {})).rejects.toMatchObject(expected);
    const params = { uid: 'u', id: 1 };
    await expect(client.call('getRequestBody', { params })).rejects.toMatchObject(expected);
  });

  test('an aborted call is not an ApiError', async () => {
    const { client } = clientOf(() => Promise.reject(new DOMException('given up', 'AbortError')));
    await expect(client.call('getUser', {})).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('onError receives each failure once', async () => {
    const onError = vi.fn<NonNullable<ClientOptions['onError']>>();
    const { client } = clientOf(json({ message: 'm' }, { status: 500 }), { onError });
    await expect(client.call('getUser', {})).rejects.toThrow('500: m');
    expect(onError.mock.calls).toEqual([['getUser', expect.any(ApiError)]]);
  });
});

describe('requests', () => {
  test('use the method, path, query and body of the operation, with cookies', async () => {
    const { client, sent } = clientOf(json([]), { headers: () => ({ 'x-extra': '1' }) });
    await client.call('listSaved', { params: { uid: 'a/b' }, query: { limit: 5, method: 'GET' } });
    expect(sent).toEqual([
      {
        url: 'http://h/api/endpoints/a%2Fb/requests?limit=5&method=GET',
        init: {
          method: 'GET',
          headers: { accept: 'application/json', 'x-extra': '1' },
          credentials: 'include',
          cache: 'no-store',
        },
      },
    ]);
  });

  test('send a body as JSON with its content type, and no content type without a body', async () => {
    const { client, sent } = clientOf(() => new Response(null, { status: 204 }));
    await client.call('deleteAccount', { body: { password: 'secret' } });
    await client.call('logout', {});
    expect(sent.map(({ init }) => [init.method, init.headers, init.body])).toEqual([
      ['DELETE', { accept: 'application/json', 'content-type': 'application/json' }, '{"password":"secret"}'],
      ['POST', { accept: 'application/json' }, undefined],
    ]);
  });

  test('leave out undefined parameters of the query', async () => {
    const { client, sent } = clientOf(json([]));
    await client.call('search', { query: { q: 'a&b=c ü', before: undefined } });
    expect(sent[0]?.url).toBe('http://h/api/search?q=a%26b%3Dc+%C3%BC');
  });
});

describe('responses', () => {
  test('are undefined for 204 and bytes for a download', async () => {
    const nothing = clientOf(() => new Response(null, { status: 204 }));
    expect(await nothing.client.call('logout', {})).toBeUndefined();
    const headers = { 'content-type': 'application/octet-stream' };
    const bytes = clientOf(() => new Response(Buffer.of(0, 255, 10), { headers }));
    expect(await bytes.client.call('getRequestBody', { params: { uid: 'u', id: 1 } })).toEqual(
      Uint8Array.of(0, 255, 10),
    );
  });

  test('have the next page from the Link header', async () => {
    const { client } = clientOf(json([], { headers: { link: '</api/search?before=9>; rel="next"' } }));
    expect((await client.callWithHeaders('search', { query: { q: 'a' } })).nextBefore).toBe('9');
  });
});

test.each([
  [null, undefined],
  ['', undefined],
  ['</a>; rel="next"', '/a'],
  ['</a>; rel=next', '/a'],
  ['</a> ; REL = "Next"', '/a'],
  ['</p>; rel="prev", </n>; rel="next"', '/n'],
  ['</n>; rel="next", </p>; rel="prev"', '/n'],
  ['</a>; title="x, y; z"; rel="next"', '/a'],
  ['</a>; rel="last next"', '/a'],
  ['</a?b=1,2;c=3>; rel="next"', '/a?b=1,2;c=3'],
  ['</a>; rel="nextish"', undefined],
  ['</a>; rel="prev"', undefined],
  ['</a>; title="rel=next"', undefined],
  ['</a>, rel="next"', undefined],
  ['nonsense', undefined],
])('the next page in %s is %s', (header, target) => {
  expect(nextLink(header)).toBe(target);
});
