import { z } from 'zod';
import { trimBatch, unpackCaptures } from './packed-captures.ts';
import type { PackedCaptures, UnpackedCapture } from './packed-captures.ts';
import type { CaptureLimits, CaptureOutcome, CaptureStore } from './store.ts';
import type { MethodCount } from './records.ts';
import { CoalescedRun } from '../workers/background.ts';

interface CaptureGroup {
  readonly endpointId: number;
  readonly captures: readonly UnpackedCapture[];
  /** Positions of its captures in the batch. */
  readonly positions: readonly number[];
}

/** The endpoint's state at the start of a batch. Its row is locked until the commit. */
export interface LockedEndpoint {
  readonly endpointId: number;
  readonly nextIndex: number;
  /** The next trim starts here: no unsaved capture has a lower index, except the spared ones. */
  readonly trimFrom: number;
  readonly autosave: boolean;
  readonly savedCount: number;
  readonly unsavedCount: number;
  /** Unsaved captures below `trimFrom`, which wait for their deliveries. They don't count for the limit. */
  readonly sparedCount: number;
  /** Captures from this index on may be forwarded, so they are not trimmed yet. Null without destinations. */
  readonly plannedTo: number | null;
  /** Whether its requests may have deliveries. */
  readonly hasDeliveries: boolean;
  /** When its newest capture was received; null if there was none. */
  readonly latestAt: number | null;
}

/**
 * The result of one endpoint's captures in a batch. The outcome follows from it and the batch, so a batch whose commit
 * was not answered can be answered later.
 */
export const receiptSchema = z.object({
  endpointId: z.number(),
  firstIndex: z.number(),
  /** Captures have this time at least. */
  notBefore: z.number(),
  /** Ids of the first captures, which are saved. */
  savedIds: z.array(z.number()),
});
export type EndpointReceipt = Readonly<z.infer<typeof receiptSchema>>;

interface NewCapture extends UnpackedCapture {
  readonly index: number;
  readonly savedId: number | null;
}

/** The changes of one endpoint: new rows, how many of the oldest unsaved rows to trim, and the resulting counters. */
export interface EndpointWrite {
  /** Its state before the batch. */
  readonly endpoint: LockedEndpoint;
  /** Without captures that the same batch would trim again. */
  readonly captures: readonly NewCapture[];
  /** At most the number of unsaved captures before the batch. */
  readonly trimCount: number;
  readonly nextIndex: number;
  readonly latestAt: number;
  readonly savedCount: number;
  /** Requests that the trim leaves, because of their deliveries or its limit of bytes, are added to it. */
  readonly unsavedCount: number;
}

type Maybe<T> = T | Promise<T>;

/** After a limit was lowered, a batch trims this many more than it adds. Its senders must not wait for 100,000 of them. */
const MAX_TRIMMED_BEYOND = 500;

/** When a batch has trimmed this many bytes of bodies, it trims no further request. Freeing 1 MB takes 1 to 3 ms. */
export const MAX_TRIMMED_BYTES = 8 * 1024 * 1024;

/** The statements of a batch, in its transaction. SQLite returns directly; a call of PostgreSQL is a round trip. */
export interface CaptureStatements {
  /** Locks the endpoints, in ascending order of ids, until the commit. Omits endpoints that do not exist. */
  lockEndpoints(endpointIds: readonly number[]): Maybe<readonly LockedEndpoint[]>;
  takeSavedIds(count: number): Maybe<readonly number[]>;
  /**
   * Trims, inserts, and updates the counters. Called for every batch, even if no endpoint exists. Returns the endpoints
   * of which the limit of bytes left some.
   */
  write(writes: readonly EndpointWrite[], receipts: readonly EndpointReceipt[]): Maybe<readonly number[]>;
}

/** Writes a batch: assigns indexes, inserts rows, trims old ones, and updates counters. */
export async function writeBatch(
  statements: CaptureStatements,
  batch: PackedCaptures,
  limits: CaptureLimits,
): Promise<CaptureOutcome> {
  const groups = groupByEndpoint(batch);
  const locked = new Map(
    (await statements.lockEndpoints(groups.map((group) => group.endpointId))).map((endpoint) => [
      endpoint.endpointId,
      endpoint,
    ]),
  );
  const plans = groups.flatMap((group) => {
    const endpoint = locked.get(group.endpointId);
    if (endpoint === undefined || (group.captures.length === 0 && !isOverfull(endpoint, limits))) return [];
    return [{ group, endpoint, toSave: countToSave(endpoint, group, limits) }];
  });
  const idsNeeded = plans.reduce((sum, plan) => sum + plan.toSave, 0);
  const savedIds = idsNeeded === 0 ? [] : await statements.takeSavedIds(idsNeeded);
  let used = 0;
  const receipts = plans.map(({ endpoint, toSave }) => ({
    endpointId: endpoint.endpointId,
    firstIndex: endpoint.nextIndex,
    notBefore: endpoint.latestAt ?? 0,
    savedIds: savedIds.slice(used, (used += toSave)),
  }));
  const writes = plans.map(({ group, endpoint }, nth) =>
    endpointWrite(endpoint, group, receipts[nth]?.savedIds ?? [], limits),
  );
  const overfull = await statements.write(writes, receipts);
  return { ...outcomeOf(batch.count, groups, receipts), ...(overfull.length > 0 && { overfull }) };
}

function isOverfull({ unsavedCount, sparedCount }: LockedEndpoint, { maxUnsaved }: CaptureLimits): boolean {
  return unsavedCount - sparedCount > maxUnsaved;
}

/**
 * Trims endpoints that batches left overfull, in separate batches. Returns a function to call after each batch, also
 * after those of `write`. After a failure, the next capture continues.
 */
export function createTrimmer(write: CaptureStore['writeCaptures']) {
  const endpointIds = new Set<number>();
  let latestLimits: CaptureLimits;
  const trimming = new CoalescedRun(async () => {
    const batch = trimBatch([...endpointIds]);
    endpointIds.clear();
    await write(batch, latestLimits).catch(() => undefined);
  });
  return ({ overfull = [] }: CaptureOutcome, limits: CaptureLimits): void => {
    for (const endpointId of overfull) endpointIds.add(endpointId);
    latestLimits = limits;
    if (endpointIds.size > 0) trimming.start();
  };
}

/** The result of a batch that was stored before, from its receipts. */
export function repeatedOutcome(batch: PackedCaptures, receipts: readonly EndpointReceipt[]): CaptureOutcome {
  return outcomeOf(batch.count, groupByEndpoint(batch), receipts);
}

function outcomeOf(
  count: number,
  groups: readonly CaptureGroup[],
  receipts: readonly EndpointReceipt[],
): CaptureOutcome {
  const indexes = new Float64Array(count).fill(-1);
  const savedIds = new Float64Array(count);
  const receivedAt = new Float64Array(count);
  const byEndpoint = new Map(receipts.map((receipt) => [receipt.endpointId, receipt]));
  for (const { endpointId, captures, positions } of groups) {
    const receipt = byEndpoint.get(endpointId);
    if (receipt === undefined) continue;
    positions.forEach((position, nth) => {
      indexes[position] = receipt.firstIndex + nth;
      savedIds[position] = receipt.savedIds[nth] ?? 0;
      receivedAt[position] = Math.max(receipt.notBefore, captures[nth]?.receivedAt ?? 0);
    });
  }
  return { indexes, savedIds, receivedAt };
}

/**
 * In ascending order of ids, so that two processes can't deadlock. Raises times until they ascend per endpoint, because
 * a clock may be set back, and joined batches of several nodes overlap in time.
 */
function groupByEndpoint(batch: PackedCaptures): CaptureGroup[] {
  const groups = new Map<number, { endpointId: number; captures: UnpackedCapture[]; positions: number[] }>();
  for (const endpointId of batch.overfull ?? []) groups.set(endpointId, { endpointId, captures: [], positions: [] });
  let position = 0;
  for (const capture of unpackCaptures(batch)) {
    let group = groups.get(capture.endpointId);
    if (group === undefined)
      groups.set(capture.endpointId, (group = { endpointId: capture.endpointId, captures: [], positions: [] }));
    const notBefore = group.captures.at(-1)?.receivedAt ?? 0;
    group.captures.push(capture.receivedAt >= notBefore ? capture : { ...capture, receivedAt: notBefore });
    group.positions.push(position++);
  }
  return [...groups.values()].toSorted((a, b) => a.endpointId - b.endpointId);
}

function countToSave(endpoint: LockedEndpoint, group: CaptureGroup, limits: CaptureLimits): number {
  return endpoint.autosave ? Math.min(group.captures.length, Math.max(0, limits.maxSaved - endpoint.savedCount)) : 0;
}

function endpointWrite(
  endpoint: LockedEndpoint,
  group: CaptureGroup,
  savedIds: readonly number[],
  limits: CaptureLimits,
): EndpointWrite {
  const unsaved = endpoint.unsavedCount + group.captures.length - savedIds.length;
  const excess = Math.max(0, unsaved - endpoint.sparedCount - limits.maxUnsaved);
  const dropCount = Math.min(excess, group.captures.length + MAX_TRIMMED_BEYOND);
  // Existing captures are older than those of the batch.
  const trimCount = Math.min(dropCount, endpoint.unsavedCount - endpoint.sparedCount);
  // Requests that may be forwarded are always written.
  const neverWritten = endpoint.plannedTo === null ? dropCount - trimCount : 0;
  // The clocks of two nodes differ, and times of an endpoint never decrease.
  const notBefore = endpoint.latestAt ?? 0;
  const captures = group.captures.map((capture, nth) => ({
    endpointId: capture.endpointId,
    receivedAt: Math.max(notBefore, capture.receivedAt),
    method: capture.method,
    head: capture.head,
    body: capture.body,
    index: endpoint.nextIndex + nth,
    savedId: savedIds[nth] ?? null,
  }));
  return {
    endpoint,
    // The saved ones precede the unsaved ones.
    captures: neverWritten === 0 ? captures : captures.toSpliced(savedIds.length, neverWritten),
    trimCount,
    nextIndex: endpoint.nextIndex + group.captures.length,
    latestAt: Math.max(notBefore, group.captures.at(-1)?.receivedAt ?? 0),
    savedCount: endpoint.savedCount + savedIds.length,
    unsavedCount: unsaved - trimCount - neverWritten,
  };
}

/** Added minus trimmed captures, by method; omits methods with no change. */
export function methodChanges(added: readonly UnpackedCapture[], trimmed: readonly MethodCount[]): MethodCount[] {
  const changes = new Map<string, { method: string; stored: number; bytes: number }>();
  const add = (method: string, stored: number, bytes: number): void => {
    const change = changes.get(method);
    if (change === undefined) changes.set(method, { method, stored, bytes });
    else {
      change.stored += stored;
      change.bytes += bytes;
    }
  };
  for (const capture of added) add(capture.method, 1, capture.body?.length ?? 0);
  for (const { method, stored, bytes } of trimmed) add(method, -stored, -bytes);
  return [...changes.values()].filter((change) => change.stored !== 0 || change.bytes !== 0);
}

/** A small write, which shows whether captures can be written. */
export const SMALL_WRITE =
  "insert into counters (name, value) values ('checks', 1) on conflict (name) do update set value = counters.value + 1";
