import assert from 'node:assert/strict';
import { DEFAULT_USER_SETTINGS } from '@creel/contract';
import type { UserSettings } from '@creel/contract';
import { CapturePacker } from '../src/database/packed-captures.ts';
import { encodeHead } from '../src/database/stored-request.ts';
import type { RequestRecord } from '../src/database/stored-request.ts';
import type { CaptureLimits } from '../src/database/store.ts';
import type { EndpointRecord, SessionRecord, UserRecord } from '../src/database/records.ts';
import type { NewEndpoint, PlanLimits } from '../src/features/endpoints/queries.ts';
import type { NewUser } from '../src/features/accounts/queries.ts';
import type { SubscriptionState } from '../src/features/billing/rules.ts';
import type { AppStore } from '../src/queries.ts';

/** The tests' clock stands still: every time is passed in. */
export const T0 = 1_800_000_000_000;
export const DAY = 86_400_000;

export const LIMITS: CaptureLimits = { maxUnsaved: 1000, maxSaved: 10_000 };

let made = 0;

/** A name that no other test of this process uses. */
export function unique(prefix: string): string {
  made += 1;
  return `${prefix}-${process.pid}-${made}`;
}

/** The fields of a user who does not exist yet. */
export function newUser(details: Partial<NewUser> = {}): NewUser {
  const username = unique('person');
  return {
    username,
    email: `${username}@example.com`,
    emailVerified: false,
    passwordHash: 'hash',
    displayName: null,
    subscriptionTier: 'FREE',
    settings: DEFAULT_USER_SETTINGS,
    createdAt: T0,
    ...details,
  };
}

/** Creates a user. */
export async function someUser(
  store: Pick<AppStore, 'createUser'>,
  details: Partial<NewUser> = {},
): Promise<UserRecord> {
  const created = await store.createUser(newUser(details));
  if ('taken' in created) throw new Error(`Taken: ${created.taken.join(', ')}`);
  return created.user;
}

/** Creates a user who gets the notices of these settings at a confirmed address. */
export function notifiedUser(
  store: Pick<AppStore, 'createUser'>,
  settings: Partial<UserSettings>,
  { email = `${unique('notified')}@example.com`, ...details }: Partial<NewUser> = {},
): Promise<UserRecord> {
  const all = { ...DEFAULT_USER_SETTINGS, email, ...settings };
  return someUser(store, { email, emailVerified: true, settings: all, ...details });
}

/** A session of a user, from now on for a second. */
export function someSession(userId: number, details: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: unique('session'),
    userId,
    createdAt: T0,
    lastSeenAt: T0,
    expiresAt: T0 + 1000,
    userAgent: 'Firefox',
    ip: '192.0.2.7',
    ...details,
  };
}

/** A paid subscription. */
export function someSubscription(fields: Partial<SubscriptionState> = {}): SubscriptionState {
  return {
    id: unique('sub'),
    itemId: 'si_1',
    tier: 'BASIC',
    interval: 'monthly',
    status: 'active',
    createdAt: T0,
    periodEndAt: T0 + 30 * DAY,
    endsAt: null,
    canceledBy: null,
    ...fields,
  };
}

/** The same limits for every plan. */
export function anyPlan(limits: Partial<PlanLimits['FREE']> = {}): PlanLimits {
  const plan = { endpoints: 1000, favorites: 1, expiryMs: DAY, ...limits };
  return { FREE: plan, BASIC: plan, PREMIUM: plan };
}

/** Creates an endpoint, for a new user by default. */
export async function someEndpoint(
  store: Pick<AppStore, 'createUser' | 'createEndpoint'>,
  { createdAt = T0, expiresAt = T0 + DAY, ...details }: Partial<NewEndpoint> & { readonly expiresAt?: number } = {},
  limit = 1000,
): Promise<EndpointRecord> {
  const userId = details.userId ?? (await someUser(store)).id;
  const endpoint = await store.createEndpoint(
    { uid: unique('uid'), name: null, source: null, createdAt, autosave: false, ...details, userId },
    anyPlan({ endpoints: limit, expiryMs: expiresAt - createdAt }),
  );
  if (endpoint === undefined) throw new Error('The user is gone.');
  if ('limit' in endpoint) throw new Error('Not created: the limit is reached.');
  return endpoint;
}

/** A capture in tests; everything except the endpoint has a default. */
export interface Sent {
  readonly to: number;
  readonly method?: string;
  readonly target?: string;
  readonly headers?: readonly string[];
  readonly body?: Buffer | string | null;
  readonly at?: number;
  readonly sourceIp?: string;
}

export interface Stored {
  readonly index: number;
  readonly savedId: number;
}

/** Stores one batch. Returns the result of each capture, in order. */
export async function capture(
  store: AppStore,
  batch: readonly Sent[],
  limits: CaptureLimits = LIMITS,
): Promise<Stored[]> {
  const packer = new CapturePacker();
  for (const {
    to,
    method = 'POST',
    target = '/',
    headers = [],
    body = null,
    at = T0,
    sourceIp = '192.0.2.1',
  } of batch) {
    packer.add(to, at, method, encodeHead(target, sourceIp, true, headers), body === null ? null : Buffer.from(body));
  }
  const outcome = await store.writeCaptures(packer.take(), limits);
  return batch.map((_, position) => ({
    index: outcome.indexes[position] ?? NaN,
    savedId: outcome.savedIds[position] ?? NaN,
  }));
}

/** Stores `count` captures whose bodies are their numbers. */
export function captureMany(
  store: AppStore,
  to: number,
  count: number,
  limits: CaptureLimits = LIMITS,
): Promise<Stored[]> {
  return capture(
    store,
    Array.from({ length: count }, (_, nth) => ({ to, body: `number ${nth}`, at: T0 + nth })),
    limits,
  );
}

export function indexesOf(records: readonly { readonly index: number }[]): number[] {
  return records.map((record) => record.index);
}

export function textOf(record: RequestRecord | undefined): string | undefined {
  return record?.body === undefined || record.body === null ? undefined : Buffer.from(record.body).toString('latin1');
}

/** Rows per read. */
const PAGE = 500;

/** All requests of an endpoint, newest first. */
export async function everything(store: AppStore, endpointId: number): Promise<readonly RequestRecord[]> {
  const rows: RequestRecord[] = [];
  for (let before: number | undefined; ; before = rows.at(-1)?.index) {
    const page = await store.listRequests({ endpointId, which: 'any', limit: PAGE, before, bodyBytes: 100 });
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

/** Compares the endpoint's counters with a recount of its rows, and returns them. They must always be equal. */
export async function expectCounted(store: AppStore, uid: string): Promise<object> {
  const endpoint = await store.findEndpointDetail(uid);
  if (endpoint === undefined) throw new Error('The endpoint is gone.');
  const rows = await everything(store, endpoint.id);
  const methods = [...new Set(rows.map((row) => row.method))].toSorted();
  const kept = {
    saved: endpoint.savedCount,
    unsaved: endpoint.unsavedCount,
    latestAt: endpoint.latestAt,
    methods: endpoint.methodCounts
      .map(({ method, stored, bytes }) => ({ method, stored, bytes }))
      .toSorted((a, b) => (a.method < b.method ? -1 : 1)),
  };
  const counted = {
    saved: rows.filter((row) => row.savedId !== null).length,
    unsaved: rows.filter((row) => row.savedId === null).length,
    latestAt: rows[0]?.receivedAt ?? null,
    methods: methods.map((method) => {
      const of = rows.filter((row) => row.method === method);
      return { method, stored: of.length, bytes: of.reduce((sum, row) => sum + row.size, 0) };
    }),
  };
  assert.deepEqual(kept, counted);
  return kept;
}
