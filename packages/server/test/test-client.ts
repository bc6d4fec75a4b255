import { createClient } from '@creel/contract';
import type { Client } from '@creel/contract';
import { CookieJar } from '../../../fixtures/cookie-jar.ts';

export interface RawCall {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** A browser without pages: a client of the contract, and raw calls with the same cookies. */
export interface TestClient extends Client {
  /** The address for the next connection. */
  readonly origin: string;
  readonly jar: CookieJar;
  /** A raw call. Follows no redirect and throws for no status. */
  send(path: string, init?: RawCall): Promise<globalThis.Response>;
  /** Sends a raw call and returns its answer as one comparable value, with the body parsed if it is JSON. */
  answerTo(path: string, init?: RawCall): Promise<{ status: number; body: unknown; headers: globalThis.Headers }>;
}

/** `headers` are sent with every call. If there are several nodes, the client alternates between them. */
export function createTestClient(
  nodes: string | readonly string[],
  headers: Readonly<Record<string, string>> = {},
  jar = new CookieJar(),
): TestClient {
  const origins = [nodes].flat();
  const [origin = ''] = origins;
  let turn = 0;
  const nextOrigin = (): string => origins[turn++ % origins.length] ?? origin;

  const fetchFromNode: typeof fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin === origin) url.host = new URL(nextOrigin()).host;
    const all = new Headers({ ...headers });
    new Headers(init?.headers).forEach((value, name) => all.set(name, value));
    return jar.fetch(url, { ...init, headers: all });
  };

  const send: TestClient['send'] = (path, init = {}) => {
    const body = init.json === undefined ? init.body : JSON.stringify(init.json);
    return fetchFromNode(new URL(path, origin), {
      method: init.method ?? 'GET',
      redirect: 'manual',
      headers: { ...(init.json === undefined ? {} : { 'content-type': 'application/json' }), ...init.headers },
      ...(body === undefined ? {} : { body }),
    });
  };

  return {
    ...createClient({ baseUrl: origin, fetch: fetchFromNode }),
    get origin() {
      return nextOrigin();
    },
    jar,
    send,
    async answerTo(path, init) {
      const answer = await send(path, init);
      const text = await answer.text();
      return { status: answer.status, body: parsed(text), headers: answer.headers };
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
