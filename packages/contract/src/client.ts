import { fillPath, OPERATIONS } from './operations.ts';
import type { AnyInput, OperationAnswer, OperationInput, OperationName } from './operations.ts';
import type { Operation } from './operations/operation.ts';
import { parseJson } from './decoding.ts';
import { z } from 'zod';

/** A failed call. The message is `{status}: {sentence}`. A `status` of 0 means that there was no complete response. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** `undefined` if there is no response, or if it is not from a Creel server but from a proxy or a captive portal. */
  readonly code: string | undefined;
  /** The sentence for the user. Empty if the response has none, for example because it came from a proxy. */
  readonly sentence: string;
  readonly fields: Readonly<Record<string, string>>;
  /** Seconds to wait before a retry, if the server sent `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    sentence: string,
    details: Partial<Pick<ApiError, 'code' | 'fields' | 'retryAfter'>> & { readonly text?: string } = {},
  ) {
    super(`${status}: ${sentence || (details.text ?? '')}`);
    this.status = status;
    this.sentence = sentence;
    this.code = details.code;
    this.fields = details.fields ?? {};
    this.retryAfter = details.retryAfter;
  }
}

/** True if a call failed because the session has ended. */
export function isEndOfSession(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && error.code === 'NOT_SIGNED_IN';
}

export interface ClientOptions {
  /** Origin of the server; empty in a browser. */
  readonly baseUrl?: string;
  readonly fetch?: typeof fetch;
  readonly headers?: () => Record<string, string>;
  /** Called once for each failed call. */
  readonly onError?: (name: OperationName, error: ApiError) => void;
}

/** A response with its headers. */
export interface Answer<Name extends OperationName> {
  readonly data: OperationAnswer<Name>;
  /** The parameter `before` of the next page, from the `Link` header (RFC 8288); `undefined` on the last page. */
  readonly nextBefore: string | undefined;
  readonly headers: Headers;
}

export type Client = ReturnType<typeof createClient>;

/**
 * Creates a typed client of the API. The web app, the command line and the tests use it. `call` returns the body of the response only.
 * Both throw an `ApiError` if the call fails or if the response does not match the schema.
 */
export function createClient(options: ClientOptions = {}) {
  async function callWithHeaders<Name extends OperationName>(
    name: Name,
    input: OperationInput<Name>,
    signal?: AbortSignal,
  ): Promise<Answer<Name>> {
    try {
      return await send(options, name, input, signal);
    } catch (error) {
      if (error instanceof ApiError) options.onError?.(name, error);
      throw error;
    }
  }
  async function call<Name extends OperationName>(name: Name, input: OperationInput<Name>, signal?: AbortSignal) {
    return (await callWithHeaders(name, input, signal)).data;
  }
  return { call, callWithHeaders };
}

async function send<Name extends OperationName>(
  options: ClientOptions,
  name: Name,
  input: AnyInput,
  signal?: AbortSignal,
): Promise<Answer<Name>> {
  const operation: Operation = OPERATIONS[name];
  const url = (options.baseUrl ?? '') + fillPath(operation.path, input.params ?? {}) + queryString(input.query ?? {});
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers?.() };
  if (input.body !== undefined) headers['content-type'] = 'application/json';
  const body = input.body === undefined ? undefined : JSON.stringify(input.body);
  const answer = await (options.fetch ?? fetch)(url, {
    method: operation.method,
    headers,
    credentials: 'include',
    cache: operation.method === 'GET' ? 'no-store' : 'default',
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  }).catch(throwUnreached);
  if (!answer.ok) throw await errorOf(answer);
  if (isPage(answer)) throw notUnderstood(answer);
  return {
    data: await readAnswer<Name>(operation, answer),
    nextBefore: beforeOf(nextLink(answer.headers.get('link'))),
    headers: answer.headers,
  };
}

function beforeOf(link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  // A link may be relative.
  return new URL(link, 'http://origin.invalid').searchParams.get('before') ?? undefined;
}

/** Throws for a connection that failed before or during the response. */
export function throwUnreached(cause: unknown): never {
  if (cause instanceof ApiError || (cause instanceof Error && cause.name === 'AbortError')) throw cause;
  throw new ApiError(0, 'The server could not be reached. Please check your connection and try again.');
}

function queryString(query: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

/**
 * The error's message comes from the body's `message`, its `error`, the body's text or the status text, in this order. Only the first
 * two are meant for users. Without them `sentence` is empty, and each screen shows its own.
 */
async function errorOf(answer: Response): Promise<ApiError> {
  const text = await answer.text().catch(() => '');
  const retryAfter = Number(answer.headers.get('retry-after') ?? Number.NaN);
  const { message, error, code, fields = {} } = looseProblemSchema.parse(parseJson(text));
  return new ApiError(answer.status, message || error || '', {
    code,
    fields,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
    text: text || answer.statusText,
  });
}

/** Accepts any failing response, even a proxy's, and keeps each field that has the expected type. */
const looseProblemSchema = z
  .object({
    message: z.string().optional().catch(undefined),
    error: z.string().optional().catch(undefined),
    code: z.string().optional().catch(undefined),
    fields: z.record(z.string(), z.string()).optional().catch(undefined),
  })
  .catch({});

async function readAnswer<Name extends OperationName>(
  operation: Operation,
  answer: Response,
): Promise<OperationAnswer<Name>> {
  const value =
    operation.answer === 'bytes'
      ? new Uint8Array(await answer.arrayBuffer().catch(throwUnreached))
      : await readJson(operation, answer);
  // The operation's schema has parsed the value. The compiler can't follow that through a generic index.
  return value as OperationAnswer<Name>;
}

async function readJson(operation: Operation, answer: Response): Promise<unknown> {
  if (operation.answer === undefined || operation.answer === 'bytes') return undefined;
  const value = parseJson(await answer.text().catch(throwUnreached));
  const parsed = operation.answer.safeParse(value);
  if (!parsed.success) throw notUnderstood(answer, value === undefined ? undefined : 'BAD_ANSWER');
  return parsed.data;
}

/** True if a captive portal or a proxy has answered with a page, which must not count as a success or as a body. */
export function isPage({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/html') === true;
}

function notUnderstood({ status }: Response, code?: string): ApiError {
  const sentence = 'The server sent a response that this page does not understand. Please reload.';
  return new ApiError(status, sentence, { code });
}

/** Returns the `rel="next"` target of a `Link` header, unchanged (RFC 8288, section 3). */
export function nextLink(header: string | null): string | undefined {
  for (const [, target, parameters = ''] of (header ?? '').matchAll(
    /<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^",;\s]*))*)/g,
  )) {
    const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]*))/i.exec(parameters);
    if ((relations?.[1] ?? relations?.[2])?.toLowerCase().split(/\s+/).includes('next')) return target;
  }
  return undefined;
}
