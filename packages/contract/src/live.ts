import { z } from 'zod';
import { capturedRequestSchema } from './captured-request.ts';
import { deliverySummarySchema } from './delivery.ts';
import { endpointDetailSchema } from './endpoint.ts';

/** Every message of the live socket: docs/api.md, "Live". Only the server sends messages. */
export const liveMessageSchema = z.discriminatedUnion('type', [
  /** The newest requests, saved and unsaved, newest first. Replaces everything the client has. */
  z.object({ type: z.literal('init'), data: z.array(capturedRequestSchema) }),
  z.object({ type: z.literal('request'), data: capturedRequestSchema }),
  z.object({ type: z.literal('saved'), data: z.object({ oldId: z.int(), request: capturedRequestSchema }) }),
  z.object({ type: z.literal('deleted'), data: z.object({ id: z.int() }) }),
  z.object({ type: z.literal('clear'), data: z.object({}) }),
  /** An attempt to send the request with this index was made or is planned. */
  z.object({ type: z.literal('delivery'), data: z.object({ index: z.int(), delivery: deliverySummarySchema }) }),
  z.object({ type: z.literal('endpoint'), data: endpointDetailSchema }),
]);
export type LiveMessage = z.infer<typeof liveMessageSchema>;
export type LiveMessageType = LiveMessage['type'];

/** Known message types. A client ignores all others, because a newer server may send more. */
export const LIVE_MESSAGE_TYPES: ReadonlySet<string> = new Set<LiveMessageType>([
  'init',
  'request',
  'saved',
  'deleted',
  'clear',
  'delivery',
  'endpoint',
]);
