import { first } from './0001-first.ts';
import { accounts } from './0002-accounts.ts';
import { usernameKeys } from './0003-username-keys.ts';
import { expiryNotices } from './0004-expiry-notices.ts';
import { billing } from './0005-billing.ts';
import { droppedCount } from './0006-dropped-count.ts';
import { deliveries } from './0007-deliveries.ts';
import { signingSecrets } from './0008-signing-secrets.ts';
import { captureBatches } from './0009-capture-batches.ts';
import { recentStatuses } from './0010-recent-statuses.ts';
import type { Migration } from './migration.ts';

/** Every migration, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  first,
  accounts,
  usernameKeys,
  expiryNotices,
  billing,
  droppedCount,
  deliveries,
  signingSecrets,
  captureBatches,
  recentStatuses,
];
