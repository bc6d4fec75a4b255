import { fillPath, OPERATIONS } from './operations.ts';
import type { AnyInput, OperationAnswer, OperationInput, OperationName } from './operations.ts';
import type { Operation } from './operations/operation.ts';
import { z } from 'zod';

/** A call that did not succeed. The text is `{status}: {message}` (spec 7); `status` 0 means that no answer came. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string | undefined;
  /** The sentence alone, fit to be shown to a person; empty where the answer held none, as when a proxy answered. */
  readonly sentence: string;
  readonly fields: Readonly<Record<string, string>>;
  /** Seconds after which to try again, where the server said so. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    sentence: string,
    details: { code?: string; fields?: Record<string, string>; retryAfter?: number; text?: string } = {},
  ) {
    super(`${status}: ${sentence || (details.text ?? '')}`);
    this.status = status;
    this.sentence = sentence;
    this.code = details.code;
    this.fields = details.fields ?? {};
    this.retryAfter = details.retryAfter;
  }
}

export interface ClientOptions {
  /** Origin of the server; empty in a browser. */
  readonly baseUrl?: string;
  readonly fetch?: typeof fetch;
  readonly headers?: () => Record<string, string>;
  /** Told of every failed call; the web app logs it. */
  readonly onError?: (name: OperationName, error: ApiError) => void;
}

/** An answer with what stands beside its body. */
export interface Answer<Name extends OperationName> {
  readonly data: OperationAnswer<Name>;
  /** Address of the next page from the `Link` header (RFC 8288), if there is one. */
  readonly next: string | undefined;
  readonly headers: Headers;
}

export interface Client {
  /** Calls an operation; throws `ApiError` when it fails or when the answer does not fit the contract. */
  call<Name extends OperationName>(
    name: Name,
    input: OperationInput<Name>,
    signal?: AbortSignal,
  ): Promise<OperationAnswer<Name>>;
  callWithHeaders<Name extends OperationName>(
    name: Name,
    input: OperationInput<Name>,
    signal?: AbortSignal,
  ): Promise<Answer<Name>>;
}

/** A typed client of the API: web app, command line and tests share it. */
export function createClient(options: ClientOptions = {}): Client {
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
  return { callWithHeaders, call: async (name, input, signal) => (await callWithHeaders(name, input, signal)).data };
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
  return {
    data: await readAnswer<Name>(operation, answer),
    next: nextLink(answer.headers.get('link')),
    headers: answer.headers,
  };
}

/** The connection failed before the answer came, or in the middle of it. */
function throwUnreached(cause: unknown): never {
  if (cause instanceof Error && cause.name === 'AbortError') throw cause;
  throw new ApiError(0, 'The server could not be reached. Please check your connection and try again.');
}

function queryString(query: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string | number] => pair[1] !== undefined);
  return pairs.length === 0
    ? ''
    : '?' + new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString();
}

/**
 * The error's text is the body's message, else its error, else the body's text, else the status text (spec 7). Only the first
 * two are a sentence for a person: where there is none, each screen has its own (spec 8).
 */
async function errorOf(answer: Response): Promise<ApiError> {
  const text = await answer.text().catch(() => '');
  const retryAfter = Number(answer.headers.get('retry-after') ?? Number.NaN);
  const wait = Number.isFinite(retryAfter) ? { retryAfter } : {};
  const { message, error, code, fields } = looseProblemSchema.parse(parseJson(text));
  return new ApiError(answer.status, message || error || '', {
    ...wait,
    text: text || answer.statusText,
    ...(code === undefined ? {} : { code }),
    ...(fields === undefined ? {} : { fields }),
  });
}

/** What can be used of a failing answer, whoever gave it: each part by itself, and nothing of what is no problem at all. */
const looseProblemSchema = z
  .object({
    message: z.string().optional().catch(undefined),
    error: z.string().optional().catch(undefined),
    code: z.string().optional().catch(undefined),
    fields: z.record(z.string(), z.string()).optional().catch(undefined),
  })
  .catch({});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readAnswer<Name extends OperationName>(
  operation: Operation,
  answer: Response,
): Promise<OperationAnswer<Name>> {
  const value =
    operation.answer === 'bytes'
      ? new Uint8Array(await answer.arrayBuffer().catch(throwUnreached))
      : await readJson(operation, answer);
  // The table ties a name to the schema that has just parsed the value; the compiler can't follow that through a generic index.
  return value as OperationAnswer<Name>;
}

async function readJson(operation: Operation, answer: Response): Promise<unknown> {
  if (operation.answer === undefined || operation.answer === 'bytes') return undefined;
  const parsed = operation.answer.safeParse(parseJson(await answer.text().catch(throwUnreached)));
  if (!parsed.success)
    throw new ApiError(answer.status, 'The server gave an answer that this page does not understand. Please reload.', {
      code: 'BAD_ANSWER',
    });
  return parsed.data;
}

/** The `rel="next"` target of a `Link` header, as it stands there (RFC 8288 3). */
export function nextLink(header: string | null): string | undefined {
  for (const [, target, parameters = ''] of (header ?? '').matchAll(
    /<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^",;\s]*))*)/g,
  )) {
    const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]*))/i.exec(parameters);
    if ((relations?.[1] ?? relations?.[2])?.toLowerCase().split(/\s+/).includes('next')) return target;
  }
  return undefined;
}
