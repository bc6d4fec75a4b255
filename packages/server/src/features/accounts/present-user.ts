import type { User } from '@creel/contract';
import type { UserRecord } from '../../database/store.ts';

/** A user as the API returns it: without the password or anything derived from it (docs/api.md, "Users"). */
export function presentUser(user: UserRecord): User {
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    displayName: user.displayName,
    subscriptionTier: user.subscriptionTier,
    subscriptionStatus: user.subscriptionStatus,
    subscriptionEndDate: user.subscriptionEndAt === null ? null : new Date(user.subscriptionEndAt).toISOString(),
    billingInterval: user.billingInterval,
    stripeCustomerId: user.stripeCustomerId,
    stripeSubscriptionId: user.stripeSubscriptionId,
    settings: user.settings,
    emailVerified: user.emailVerified,
    hasPassword: user.passwordHash !== null,
  };
}
