import { z } from 'zod';
import { OPERATIONS } from './operations.ts';
import { problemsOf, statusOf } from './operations/operation.ts';
import type { Operation } from './operations/operation.ts';
import { PROBLEMS, problemSchema } from './problems.ts';

type Json = Record<string, unknown>;

/** Builds the OpenAPI 3.1 document of `/api` from the schemas that validate the calls. */
export function openApiDocument(server: { version: string; url: string }): Json {
  const paths: Record<string, Json> = {};
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describeOperation(name, operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Creel',
      version: server.version,
      description: 'Captures webhooks, shows them live and sends them again.',
    },
    servers: [{ url: server.url }],
    paths,
    components: {
      // The input schema, because later versions may add fields.
      schemas: { Problem: jsonSchema(problemSchema, 'input') },
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'creel_session' } },
    },
  };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' });
  return rest;
}

function describeOperation(name: string, operation: Operation): Json {
  return {
    operationId: name,
    summary: operation.summary,
    ...(operation.access === 'public' ? {} : { security: [{ session: [] }] }),
    parameters: [...pathParameters(operation.path), ...queryParameters(operation.query)],
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            required: !operation.body.safeParse(undefined).success,
            content: { 'application/json': { schema: jsonSchema(operation.body, 'input') } },
          },
        }),
    responses: { [statusOf(operation)]: describeAnswer(operation), ...describeProblems(operation) },
  };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    // Ids that follow an endpoint's uid are numbers, all others are texts.
    schema: name === 'id' && path.includes('{uid}') ? { type: 'integer' } : { type: 'string' },
  }));
}

function queryParameters(query: z.ZodObject | undefined): Json[] {
  if (query === undefined) return [];
  const schema = z
    .object({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()).default([]) })
    .parse(jsonSchema(query, 'input'));
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: 'query',
    required: schema.required.includes(name),
    schema: property,
  }));
}

function describeAnswer(operation: Operation): Json {
  if (operation.answer === undefined) return { description: 'Done' };
  const link = operation.paged
    ? { headers: { Link: { schema: { type: 'string' }, description: 'rel="next": the next page (RFC 8288)' } } }
    : {};
  const content =
    operation.answer === 'bytes'
      ? { [operation.mediaType ?? 'application/octet-stream']: { schema: { type: 'string', format: 'binary' } } }
      : { 'application/json': { schema: jsonSchema(operation.answer, 'output') } };
  return { description: operation.summary, ...link, content };
}

const RETRY_AFTER = {
  'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait before the next try (RFC 9110)' },
};

function describeProblems(operation: Operation): Json {
  const byStatus = Map.groupBy(problemsOf(operation), (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: [...new Set(list)].join(', '),
        ...(status === 429 || status === 503 ? { headers: RETRY_AFTER } : {}),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}
