import { z } from 'zod';
import { MAX_LABEL_LENGTH } from './limits.ts';

/** `autosave` and `isFavorite` travel as text (spec 3). */
export const flagSchema = z.enum(['true', 'false']);
export type Flag = z.infer<typeof flagSchema>;

/** A capture URL and what is known of it (contract 2). Times are ISO 8601 in UTC. */
export const endpointSchema = z.object({
  id: z.int(),
  uid: z.string(),
  name: z.string().nullable(),
  source: z.string().nullable(),
  userId: z.int(),
  createdAt: z.iso.datetime(),
  /** `null` for a favourite, which never expires. */
  expiresAt: z.iso.datetime().nullable(),
  autosave: flagSchema,
  isFavorite: flagSchema,
  /** Stored requests, saved and unsaved. */
  requestCount: z.int(),
  latestRequest: z.iso.datetime().nullable(),
  /** The full capture URL. */
  url: z.string(),
});
export type Endpoint = z.infer<typeof endpointSchema>;

const SHORT_UID = 8;

/** What an endpoint is called: its name, or 'webhook/' and the first 8 characters of its uid (spec 2). */
export function endpointTitle(endpoint: Pick<Endpoint, 'name' | 'uid'>): string {
  return endpoint.name ?? `webhook/${endpoint.uid.slice(0, SHORT_UID)}`;
}

/** Computed by the server over everything stored, saved and unsaved; `averageSize` in bytes (contract 2). */
export const endpointStatsSchema = z.object({
  total: z.int(),
  byMethod: z.record(z.string(), z.int()),
  averageSize: z.number(),
  saved: z.int(),
  /** How many saved requests the endpoint can hold; once reached, autosave keeps new ones unsaved (contract 3). */
  maxSaved: z.int(),
});
export type EndpointStats = z.infer<typeof endpointStatsSchema>;

export const endpointDetailSchema = endpointSchema.extend({ stats: endpointStatsSchema });
export type EndpointDetail = z.infer<typeof endpointDetailSchema>;

const label = (what: string) =>
  z
    .string({ error: `${what} must be text` })
    .trim()
    .max(MAX_LABEL_LENGTH, { error: `${what} must be at most ${MAX_LABEL_LENGTH} characters` })
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), { error: `${what} must not contain control characters` })
    .transform((text) => (text === '' ? null : text))
    .nullable();

/** Booleans are taken beside the two texts (contract 2). */
const flagInput = (what: string) =>
  z.union([z.boolean(), flagSchema.transform((text) => text === 'true')], { error: `${what} must be true or false` });

export const endpointCreateSchema = z.object({
  name: label('Name').optional(),
  source: label('Source').optional(),
  autoSaveEnabled: flagInput('Autosave').optional(),
});

export const endpointChangeSchema = z.object({
  name: label('Name').optional(),
  source: label('Source').optional(),
  isFavorite: flagInput('Favorite').optional(),
  autosave: flagInput('Autosave').optional(),
});
export type EndpointChange = z.output<typeof endpointChangeSchema>;
