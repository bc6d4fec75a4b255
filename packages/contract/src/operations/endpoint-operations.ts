import { z } from 'zod';
import { endpointChangeSchema, endpointCreateSchema, endpointDetailSchema, endpointSchema } from '../endpoint.ts';
import type { Operation } from './operation.ts';

/** Create, read, change and delete endpoints: docs/api.md, "Endpoints". */
export const endpointOperations = {
  listEndpoints: {
    method: 'GET',
    path: '/api/endpoints',
    summary: "List the user's endpoints, favorites first, then newest first",
    access: 'user',
    answer: z.array(endpointSchema),
    problems: [],
  },
  createEndpoint: {
    method: 'POST',
    path: '/api/endpoints',
    summary: 'Create an endpoint with its own capture URL',
    access: 'user',
    // Every field is optional, and so is the body.
    body: endpointCreateSchema.prefault({}),
    status: 201,
    answer: endpointSchema,
    problems: ['PLAN_LIMIT'],
  },
  getEndpoint: {
    method: 'GET',
    path: '/api/endpoints/{uid}',
    summary: 'Return an endpoint with its statistics',
    access: 'user',
    answer: endpointDetailSchema,
    problems: ['ENDPOINT_NOT_FOUND'],
  },
  changeEndpoint: {
    method: 'PATCH',
    path: '/api/endpoints/{uid}',
    summary: 'Change the name, source, favorite or autosave setting',
    access: 'user',
    body: endpointChangeSchema,
    answer: endpointSchema,
    problems: ['ENDPOINT_NOT_FOUND', 'PLAN_LIMIT'],
  },
  deleteEndpoint: {
    method: 'DELETE',
    path: '/api/endpoints/{uid}',
    summary: 'Delete the endpoint and its requests',
    access: 'user',
    problems: ['ENDPOINT_NOT_FOUND'],
  },
} as const satisfies Record<string, Operation>;
