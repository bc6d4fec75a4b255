import { z } from 'zod';
import type { Operation } from './operation.ts';

/** What this server offers; the web app shows or disables things by it. Public: the sign-in page needs it. */
export const serviceInfoSchema = z.object({
  version: z.string(),
  publicUrl: z.string(),
  /** Third-party sign-in, or `null` when none is configured (contract 6). */
  signIn: z.object({ name: z.string(), startUrl: z.string() }).nullable(),
  /** False without `SMTP_URL`: mail is off and the pages say so. */
  mail: z.boolean(),
  billing: z.enum(['off', 'test', 'stripe']),
  maxBodyBytes: z.int(),
  maxSavedPerEndpoint: z.int(),
  maxUnsavedPerEndpoint: z.int(),
});
export type ServiceInfo = z.infer<typeof serviceInfoSchema>;

export const serviceOperations = {
  getServiceInfo: {
    method: 'GET',
    path: '/api/service',
    summary: 'What this server offers',
    access: 'public',
    status: 200,
    answer: serviceInfoSchema,
    problems: [],
  },
  getOpenApi: {
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This API as OpenAPI 3.1',
    access: 'public',
    status: 200,
    answer: z.record(z.string(), z.unknown()),
    problems: [],
  },
} as const satisfies Record<string, Operation>;
