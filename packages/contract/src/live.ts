import { z } from 'zod';
import { capturedRequestSchema } from './captured-request.ts';
import { deliverySummarySchema } from './delivery.ts';
import { endpointDetailSchema } from './endpoint.ts';

/** An attempt to send the request with this index was made or is planned. The rest is the request's state after it. */
export const liveDeliverySchema = z.object({
  index: z.int(),
  delivery: deliverySummarySchema,
  ...capturedRequestSchema.pick({ lastDelivery: true, deliveryPending: true }).shape,
});
export type LiveDelivery = z.infer<typeof liveDeliverySchema>;

/** Every message of the live socket: docs/api.md, "Live". Only the server sends messages. */
export const liveMessageSchema = z.discriminatedUnion('type', [
  /** The newest requests, saved and unsaved, newest first. Replaces everything the client has. */
  z.object({ type: z.literal('init'), data: z.array(capturedRequestSchema) }),
  z.object({ type: z.literal('request'), data: capturedRequestSchema }),
  z.object({ type: z.literal('saved'), data: z.object({ oldId: z.int(), request: capturedRequestSchema }) }),
  z.object({ type: z.literal('deleted'), data: z.object({ id: z.int() }) }),
  z.object({ type: z.literal('clear'), data: z.object({}) }),
  z.object({ type: z.literal('delivery'), data: liveDeliverySchema }),
  z.object({ type: z.literal('endpoint'), data: endpointDetailSchema }),
]);
export type LiveMessage = z.infer<typeof liveMessageSchema>;

/** Known message types. A client ignores all others, because a newer server may send more. */
export const LIVE_MESSAGE_TYPES: ReadonlySet<string> = new Set(
  liveMessageSchema.options.map(({ shape }) => shape.type.value),
);
