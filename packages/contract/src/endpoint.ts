import { z } from 'zod';
import { signingSchemeSchema } from './signing.ts';
import { MAX_LABEL_LENGTH } from './limits.ts';

/** `autosave` and `isFavorite` are strings on the wire. */
const flagSchema = z.enum(['true', 'false']);

/** An endpoint: a capture URL with its settings and counters. Times are ISO 8601 in UTC. */
export const endpointSchema = z.object({
  id: z.int(),
  uid: z.string(),
  name: z.string().nullable(),
  source: z.string().nullable(),
  userId: z.int(),
  createdAt: z.iso.datetime(),
  /** `null` for a favorite, which never expires. */
  expiresAt: z.iso.datetime().nullable(),
  autosave: flagSchema,
  isFavorite: flagSchema,
  /** Number of stored requests, saved and unsaved. */
  requestCount: z.int(),
  latestRequest: z.iso.datetime().nullable(),
  /** The full capture URL. */
  url: z.string(),
  /** How the signatures of captures are checked, or `null` without a signing secret. */
  signing: z.object({ scheme: signingSchemeSchema }).nullable().default(null),
});
export type Endpoint = z.infer<typeof endpointSchema>;

const SHORT_UID = 8;

/** Returns the name to show: the endpoint's name, or `webhook/` and the first 8 characters of its uid. */
export function endpointTitle(endpoint: Pick<Endpoint, 'name' | 'uid'>): string {
  return endpoint.name ?? `webhook/${endpoint.uid.slice(0, SHORT_UID)}`;
}

/** Active until `expiresAt` has passed. A favorite never expires. `now` in milliseconds. */
export function isExpired(endpoint: Pick<Endpoint, 'isFavorite' | 'expiresAt'>, now: number): boolean {
  return endpoint.isFavorite !== 'true' && endpoint.expiresAt !== null && Date.parse(endpoint.expiresAt) <= now;
}

/** Statistics of all stored requests, saved and unsaved. `averageSize` is in bytes. */
const endpointStatsSchema = z.object({
  total: z.int(),
  byMethod: z.record(z.string(), z.int()),
  averageSize: z.number(),
});

/** What an endpoint keeps of its captures. */
const endpointRetentionSchema = z.object({
  /** Number of stored requests that are saved. */
  saved: z.int(),
  /** Maximum number of saved requests. At this number, autosave leaves new requests unsaved. */
  maxSaved: z.int(),
  /** Number of requests captured since the creation or the last clear, including those that are no longer stored. */
  captured: z.int(),
  /** How many of the captured requests were dropped, because newer unsaved ones took their place. */
  dropped: z.int(),
  /** Maximum number of unsaved requests. At this number, each new one drops the oldest. */
  maxUnsaved: z.int(),
  /** Index of the newest capture that these numbers include, stored or not; -1 without one, or from an older node. */
  newestIndex: z.int().default(-1),
});

/** An endpoint with its statistics, as `getEndpoint` and the live message `endpoint` have it. */
export const endpointDetailSchema = endpointSchema.extend({
  stats: endpointStatsSchema,
  retention: endpointRetentionSchema,
});
export type EndpointDetail = z.infer<typeof endpointDetailSchema>;

const label = (what: string) =>
  z
    .string(`${what} must be text`)
    .trim()
    .max(MAX_LABEL_LENGTH, `${what} must be at most ${MAX_LABEL_LENGTH} characters`)
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), `${what} must not contain control characters`)
    .transform((text) => (text === '' ? null : text))
    .nullable();

/** Accepts `'true'`, `'false'` and booleans. */
const flagInput = (what: string) =>
  z.union([z.boolean(), flagSchema.transform((text) => text === 'true')], `${what} must be true or false`);

/** The settings of a new endpoint. Without `autoSaveEnabled`, the setting of its user applies. */
export const endpointCreateSchema = z.object({
  name: label('Name').optional(),
  source: label('Source').optional(),
  autoSaveEnabled: flagInput('Autosave').optional(),
});

/** Absent fields stay as they are. */
export const endpointChangeSchema = z.object({
  name: label('Name').optional(),
  source: label('Source').optional(),
  isFavorite: flagInput('Favorite').optional(),
  autosave: flagInput('Autosave').optional(),
});
