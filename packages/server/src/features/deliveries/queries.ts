import type { Bound } from '../../database/bind-queries.ts';
import { attemptReads, attemptWrites } from './attempt-queries.ts';
import { destinationReads, destinationWrites } from './destination-queries.ts';
import { planReads, planScans, planWrites } from './plan-queries.ts';
import { recordWrites } from './record-queries.ts';

export const deliveryReads = { ...destinationReads, ...planReads, ...attemptReads };
/** Matching a large body takes long. */
export const deliveryScans = { ...planScans };
export const deliveryWrites = { ...destinationWrites, ...planWrites, ...attemptWrites, ...recordWrites };

/** The queries of destinations and deliveries, bound to a database. */
export type DeliveryQueries = Bound<typeof deliveryReads & typeof deliveryScans & typeof deliveryWrites>;
