import { z } from 'zod';
import { endpointChangeSchema, endpointCreateSchema, endpointDetailSchema, endpointSchema } from '../endpoint.ts';
import type { Operation } from './operation.ts';

/** Create, read, change and delete endpoints: docs/api.md, "Endpoints". */
export const endpointOperations = {
  listEndpoints: {
    method: 'GET',
    path: '/api/endpoints',
    summary: "List the user's endpoints, favorites first, then newest first",
    answer: z.array(endpointSchema),
  },
  createEndpoint: {
    method: 'POST',
    path: '/api/endpoints',
    summary: 'Create an endpoint with its own capture URL',
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
    answer: endpointDetailSchema,
  },
  changeEndpoint: {
    method: 'PATCH',
    path: '/api/endpoints/{uid}',
    summary: 'Change the name, source, favorite or autosave setting',
    body: endpointChangeSchema,
    answer: endpointSchema,
    problems: ['PLAN_LIMIT'],
  },
  deleteEndpoint: {
    method: 'DELETE',
    path: '/api/endpoints/{uid}',
    summary: 'Delete the endpoint and its requests',
  },
} as const satisfies Record<string, Operation>;
