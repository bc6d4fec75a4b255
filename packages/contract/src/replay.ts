import { z } from 'zod';
import { bodyEncodingSchema } from './captured-request.ts';

export const REPLAY_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;

const headerPairSchema = z.object({ key: z.string(), value: z.string() });
export type HeaderPair = z.infer<typeof headerPairSchema>;

const URL_SENTENCE = 'Please enter a valid URL';

/** An absolute http or https URL, as text (contract 4). */
export const targetUrlSchema = z
  .string({ error: URL_SENTENCE })
  .trim()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), { error: URL_SENTENCE });

/** What to send again, and where. `bodyFrom` sends a stored request's bytes exactly, in place of `body` (contract 4). */
export const replaySchema = z.object({
  method: z.string().min(1),
  url: targetUrlSchema,
  headers: z.union([z.array(headerPairSchema), z.record(z.string(), z.string())]).default([]),
  body: z.string().optional(),
  bodyEncoding: bodyEncodingSchema.optional(),
  bodyFrom: z.object({ endpointUid: z.string(), id: z.int() }).optional(),
});

/** What the target answered, whatever its status. `body` is cut at 1 MiB and then marked. */
export const replayAnswerSchema = z.object({
  status: z.int(),
  statusText: z.string(),
  headers: z.array(headerPairSchema),
  body: z.string().nullable(),
  bodyEncoding: bodyEncodingSchema,
  bodyTruncated: z.boolean(),
  durationMs: z.number(),
});
export type ReplayAnswer = z.infer<typeof replayAnswerSchema>;
