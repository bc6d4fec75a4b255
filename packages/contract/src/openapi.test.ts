import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from './openapi.ts';
import { OPERATIONS } from './operations.ts';
import { problemsOf, statusOf } from './operations/operation.ts';
import type { Operation } from './operations/operation.ts';
import { PROBLEMS } from './problems.ts';

/** Converted through JSON, as a client receives it. */
const document: unknown = JSON.parse(JSON.stringify(openApiDocument({ version: '1.2.3', url: 'https://h' })));

const media = z.object({ schema: z.record(z.string(), z.unknown()) });
const operationSchema = z.strictObject({
  operationId: z.string().regex(/^\w+$/),
  summary: z.string().min(1),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(
    z.strictObject({
      name: z.string(),
      in: z.enum(['path', 'query']),
      required: z.boolean(),
      schema: z.record(z.string(), z.unknown()),
    }),
  ),
  requestBody: z
    .strictObject({ required: z.boolean(), content: z.strictObject({ 'application/json': media }) })
    .optional(),
  responses: z.record(
    z.string().regex(/^[1-5]\d\d$/),
    z.strictObject({
      description: z.string().min(1),
      headers: z.record(z.string(), z.unknown()).optional(),
      content: z.record(z.string(), media).optional(),
    }),
  ),
});
/** The parts of OpenAPI 3.1.0 that the document uses. */
const documentSchema = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: z.strictObject({ title: z.string(), version: z.literal('1.2.3'), description: z.string() }),
  servers: z.tuple([z.strictObject({ url: z.literal('https://h') })]),
  paths: z.record(
    z.string().startsWith('/api/'),
    z.partialRecord(z.enum(['get', 'post', 'put', 'patch', 'delete']), operationSchema),
  ),
  components: z.strictObject({
    schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
    securitySchemes: z.record(z.string(), z.record(z.string(), z.unknown())),
  }),
});
const parsed = documentSchema.parse(document);
const operations = Object.entries(parsed.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

/** Every value in a document, with its path. */
function* walk(value: unknown, at = '#'): Generator<[at: string, value: unknown]> {
  yield [at, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    yield* walk(inner, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

describe('the document', () => {
  test('has every operation once, under its name', () => {
    const rows = Object.entries(OPERATIONS).map(
      ([name, { method, path }]) => `${name} ${method.toLowerCase()} ${path}`,
    );
    const described = operations.map(({ operationId, method, path }) => `${operationId} ${method} ${path}`);
    expect(described.toSorted()).toEqual(rows.toSorted());
  });

  test('has the media type of each download', () => {
    const types = operations.flatMap(({ operationId, responses }) =>
      Object.keys(responses['200']?.content ?? {}).map((type) => [operationId, type]),
    );
    expect(types.filter(([, type]) => type !== 'application/json')).toEqual([
      ['getRequestBody', 'application/octet-stream'],
      ['exportRequests', 'application/x-ndjson'],
    ]);
  });

  test('has no broken references', () => {
    const places = new Set([...walk(document)].map(([at]) => at));
    const references = [...walk(document)].filter(([at]) => at.endsWith('/$ref')).map(([, target]) => target);
    expect(references.length).toBeGreaterThan(0);
    expect(references.filter((target) => typeof target !== 'string' || !places.has(target))).toEqual([]);
  });

  test('declares every security scheme that it uses', () => {
    const used = operations.flatMap(({ security = [] }) => security.flatMap((one) => Object.keys(one)));
    expect([...new Set(used)]).toEqual(Object.keys(parsed.components.securitySchemes));
  });

  test('contains only JSON: no function, no undefined', () => {
    expect(document).toEqual(openApiDocument({ version: '1.2.3', url: 'https://h' }));
  });
});

describe.each(operations.map((operation) => [operation.operationId, operation] as const))('%s', (name, operation) => {
  const row = Object.entries<Operation>(OPERATIONS).find(([known]) => known === name)?.[1];

  test('declares exactly the parameters of its path', () => {
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const declared = operation.parameters.filter((parameter) => parameter.in === 'path');
    expect(declared.map((parameter) => parameter.name)).toEqual(inPath);
    expect(declared.every((parameter) => parameter.required)).toBe(true);
  });

  test('has no duplicate parameters', () => {
    const names = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('describes its success and error responses', () => {
    const statuses = Object.keys(operation.responses).map(Number);
    const success = row && statusOf(row);
    expect(statuses.filter((status) => status < 400)).toEqual([success]);
    for (const code of row === undefined ? [] : problemsOf(row))
      expect(operation.responses[String(PROBLEMS[code].status)]?.description).toContain(code);
    expect(statuses.includes(401) || row?.access === 'public').toBe(true);
    expect('content' in (operation.responses[String(success)] ?? {})).toBe(row !== undefined && 'answer' in row);
  });
});

test('the fields and headers of problems are described', () => {
  expect(
    Object.keys(z.record(z.string(), z.unknown()).parse(parsed.components.schemas['Problem']?.['properties'])),
  ).toEqual(['error', 'message', 'code', 'fields', 'position', 'success', 'errorId']);
  const waits = operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, { headers = {} }]) => ('Retry-After' in headers ? [status] : [])),
  );
  expect([...new Set(waits)].toSorted()).toEqual(['429', '503']);
});

test('an optional body is not required', () => {
  const remove = operations.find(({ operationId }) => operationId === 'deleteAccount');
  expect(remove?.requestBody?.content['application/json'].schema).toMatchObject({ type: 'object' });
});

test('query parameters with a default are optional', () => {
  const list = operations.find(({ operationId }) => operationId === 'listSaved');
  const required = list?.parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, required: is }) => [name, is]);
  expect(required).toEqual([
    ['limit', false],
    ['before', false],
    ['method', false],
  ]);
});
