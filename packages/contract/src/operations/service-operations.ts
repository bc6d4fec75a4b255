import { z } from 'zod';
import type { Operation } from './operation.ts';

/** Features of this server, which the web app shows or disables. Public, because the login page needs it. */
export const serviceInfoSchema = z.object({
  version: z.string(),
  publicUrl: z.string(),
  /** Third-party login, or `null` if none is configured. */
  signIn: z.object({ name: z.string(), startUrl: z.string() }).nullable(),
  /** False without `SMTP_URL`. The server then sends no email. */
  mail: z.boolean(),
  billing: z.enum(['off', 'test', 'stripe']),
  maxBodyBytes: z.int(),
  maxSavedPerEndpoint: z.int(),
  maxUnsavedPerEndpoint: z.int(),
});
export type ServiceInfo = z.infer<typeof serviceInfoSchema>;

/** What a client needs to know about the server: docs/api.md, "Accounts" (`GET /api/service`). */
export const serviceOperations = {
  getServiceInfo: {
    method: 'GET',
    path: '/api/service',
    summary: 'Return the features of this server',
    access: 'public',
    answer: serviceInfoSchema,
  },
  getOpenApi: {
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'Return this API as an OpenAPI 3.1 document',
    access: 'public',
    answer: z.record(z.string(), z.unknown()),
  },
} as const satisfies Record<string, Operation>;
