import type { Remote } from '../../database/remote.ts';
import { attemptQueries } from './attempt-queries.ts';
import { destinationQueries } from './destination-queries.ts';
import { outcomeQueries } from './outcome-queries.ts';
import { leaseQueries } from './lease-queries.ts';
import { matchQueries } from './match-queries.ts';
import { planQueries } from './plan-queries.ts';
import { recordQueries } from './record-queries.ts';

export const deliveryQueries = {
  ...destinationQueries,
  ...leaseQueries,
  ...matchQueries,
  ...planQueries,
  ...attemptQueries,
  ...recordQueries,
  ...outcomeQueries,
};

export type DeliveryQueries = Remote<typeof deliveryQueries>;
