import { z } from 'zod';
import {
  deliveryAttemptSchema,
  deliveryReportSchema,
  destinationChangeSchema,
  destinationCreateSchema,
  destinationSchema,
} from '../delivery.ts';
import { signingSecretSchema } from '../signing.ts';
import type { Operation } from './operation.ts';

const deliveriesQuerySchema = z.object({
  /** Also lists the deliveries that wait for their first attempt, before the attempts, with `attempt: 0`. */
  planned: z
    .enum(['true', 'false'], 'planned must be true or false')
    .transform((flag) => flag === 'true')
    .default(false),
});

/** Destinations, deliveries and signing secrets: docs/api.md, "Deliveries". */
export const deliveryOperations = {
  listDestinations: {
    method: 'GET',
    path: '/api/endpoints/{uid}/destinations',
    summary: 'List the destinations of an endpoint, oldest first',
    answer: z.array(destinationSchema),
  },
  createDestination: {
    method: 'POST',
    path: '/api/endpoints/{uid}/destinations',
    summary: 'Forward new captures of an endpoint to a URL',
    body: destinationCreateSchema,
    status: 201,
    answer: destinationSchema,
    problems: ['INVALID_QUERY', 'TARGET_NOT_ALLOWED', 'TOO_MANY_DESTINATIONS'],
  },
  changeDestination: {
    method: 'PATCH',
    path: '/api/endpoints/{uid}/destinations/{id}',
    summary: 'Change a destination, switch it on or off, or resume it',
    body: destinationChangeSchema,
    answer: destinationSchema,
    problems: ['DESTINATION_NOT_FOUND', 'INVALID_QUERY', 'TARGET_NOT_ALLOWED'],
  },
  deleteDestination: {
    method: 'DELETE',
    path: '/api/endpoints/{uid}/destinations/{id}',
    summary: 'Delete a destination and its pending deliveries',
    problems: ['DESTINATION_NOT_FOUND'],
  },
  listDeliveries: {
    method: 'GET',
    path: '/api/endpoints/{uid}/requests/{id}/deliveries',
    summary: 'List the last attempts to send a request, newest first',
    query: deliveriesQuerySchema,
    answer: z.array(deliveryAttemptSchema),
    problems: ['REQUEST_NOT_FOUND'],
  },
  reportDelivery: {
    method: 'POST',
    path: '/api/endpoints/{uid}/requests/{id}/deliveries',
    summary: 'Report an attempt that creel forward made',
    body: deliveryReportSchema,
    status: 201,
    answer: deliveryAttemptSchema,
    problems: ['REQUEST_NOT_FOUND'],
  },
  retryDelivery: {
    method: 'POST',
    path: '/api/endpoints/{uid}/deliveries/{deliveryId}/retry',
    summary: 'Send a delivery of a destination again at once',
    status: 202,
    problems: ['DELIVERY_NOT_FOUND', 'DELIVERY_NOT_RETRYABLE'],
  },
  setSigningSecret: {
    method: 'PUT',
    path: '/api/endpoints/{uid}/signing-secret',
    summary: 'Set the scheme and the secret that the sender signs with',
    body: signingSecretSchema,
  },
  deleteSigningSecret: {
    method: 'DELETE',
    path: '/api/endpoints/{uid}/signing-secret',
    summary: 'Delete the signing secret',
  },
} as const satisfies Record<string, Operation>;
