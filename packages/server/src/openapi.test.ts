import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { OPERATIONS, PROBLEMS } from '@creel/contract';
import { startTestServer } from '../test/test-server.ts';

/** A strict schema of the parts of OpenAPI 3.1 that the document uses; anything else is a mistake. */
const schemaSchema = z.record(z.string(), z.unknown());
const contentSchema = z.record(z.string().regex(/^\w+\/[\w.+-]+$/), z.strictObject({ schema: schemaSchema }));
const operationSchema = z.strictObject({
  operationId: z.string(),
  summary: z.string().min(5),
  security: z.array(z.strictObject({ session: z.tuple([]) })).optional(),
  parameters: z.array(
    z.strictObject({ name: z.string(), in: z.enum(['path', 'query']), required: z.boolean(), schema: schemaSchema }),
  ),
  requestBody: z.strictObject({ required: z.boolean(), content: contentSchema }).optional(),
  responses: z.record(
    z.string().regex(/^[2-5]\d\d$/),
    z.strictObject({
      description: z.string().min(1),
      headers: schemaSchema.optional(),
      content: contentSchema.optional(),
    }),
  ),
});
const documentSchema = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: z.strictObject({ title: z.string(), version: z.string(), description: z.string() }),
  servers: z.array(z.strictObject({ url: z.url() })),
  paths: z.record(
    z.string().startsWith('/api'),
    z.record(z.enum(['get', 'post', 'put', 'patch', 'delete']), operationSchema).catch({} as never),
  ),
  components: z.strictObject({ schemas: schemaSchema, securitySchemes: schemaSchema }),
});

const server = await startTestServer();
const text = await (await server.visitor().send('/api/openapi.json')).text();
afterAll(() => server.stop());

/** Path and method of every described operation. */
function described(): [path: string, method: string, operation: z.infer<typeof operationSchema>][] {
  const { paths } = z
    .object({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) })
    .parse(JSON.parse(text));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): ReturnType<typeof described>[number] => [
      path,
      method,
      operation,
    ]),
  );
}

test('the document is valid OpenAPI 3.1', () => {
  expect(documentSchema.safeParse(JSON.parse(text)).error).toBeUndefined();
});

test('it describes every operation once, and nothing else', () => {
  const rows = Object.entries(OPERATIONS).map(([name, { method, path }]) => `${name}: ${method.toLowerCase()} ${path}`);
  expect(
    described()
      .map(([path, method, { operationId }]) => `${operationId}: ${method} ${path}`)
      .toSorted(),
  ).toEqual(rows.toSorted());
});

test('every path parameter is described, and every reference resolves', () => {
  for (const [path, , { parameters }] of described()) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(parameters.filter((one) => one.in === 'path').map((one) => one.name)).toEqual(names);
  }
  const schemas = z.object({ components: z.object({ schemas: schemaSchema }) }).parse(JSON.parse(text))
    .components.schemas;
  for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g))
    expect(Object.keys(schemas)).toContain(name);
  expect(text).not.toMatch(/"\$ref":"(?!#\/components\/schemas\/)/);
});

test('every problem of an operation is described under its status', () => {
  for (const [path, method, { responses }] of described()) {
    const row = Object.values(OPERATIONS).find((one) => one.path === path && one.method.toLowerCase() === method);
    for (const code of row?.problems ?? [])
      expect(responses[String(PROBLEMS[code].status)]?.description).toContain(code);
  }
});
