import { z } from 'zod';
import { endpointChangeSchema, endpointCreateSchema, endpointDetailSchema, endpointSchema } from '../endpoint.ts';
import type { Operation } from './operation.ts';

/** Endpoints: create, read, change, delete (contract 4). */
export const endpointOperations = {
  listEndpoints: {
    method: 'GET',
    path: '/api/endpoints',
    summary: 'Endpoints of the user, favourites first, then newest first',
    access: 'user',
    status: 200,
    answer: z.array(endpointSchema),
    problems: [],
  },
  createEndpoint: {
    method: 'POST',
    path: '/api/endpoints',
    summary: 'Creates an endpoint with a capture URL of its own',
    access: 'user',
    // Every field may be left out, and so may the body.
    body: endpointCreateSchema.prefault({}),
    status: 201,
    answer: endpointSchema,
    problems: ['PLAN_LIMIT'],
  },
  getEndpoint: {
    method: 'GET',
    path: '/api/endpoints/{uid}',
    summary: 'One endpoint with its statistics',
    access: 'user',
    status: 200,
    answer: endpointDetailSchema,
    problems: ['ENDPOINT_NOT_FOUND'],
  },
  changeEndpoint: {
    method: 'PATCH',
    path: '/api/endpoints/{uid}',
    summary: 'Changes name, source, favourite or autosave',
    access: 'user',
    body: endpointChangeSchema,
    status: 200,
    answer: endpointSchema,
    problems: ['ENDPOINT_NOT_FOUND', 'PLAN_LIMIT'],
  },
  deleteEndpoint: {
    method: 'DELETE',
    path: '/api/endpoints/{uid}',
    summary: 'Deletes the endpoint and its requests',
    access: 'user',
    status: 204,
    problems: ['ENDPOINT_NOT_FOUND'],
  },
} as const satisfies Record<string, Operation>;
