import { METHODS } from 'node:http';
import { unpackCaptures } from './packed-captures.ts';
import type { PackedCaptures, UnpackedCapture } from './packed-captures.ts';
import type { CaptureLimits, CaptureOutcome } from './store.ts';

/** What a batch brings to one endpoint. */
export interface CaptureGroup {
  readonly endpointId: number;
  readonly captures: readonly UnpackedCapture[];
  /** Where its captures stand in the batch. */
  readonly positions: readonly number[];
}

/** The endpoint as a batch finds it, its row held until the batch is committed. */
export interface HeldEndpoint {
  readonly endpointId: number;
  /** The index of the next capture. */
  readonly nextIndex: number;
  /** No unsaved capture lies below it. */
  readonly trimFrom: number;
  readonly autosave: boolean;
  readonly savedCount: number;
  readonly unsavedCount: number;
}

export interface NewCapture extends UnpackedCapture {
  readonly index: number;
  readonly savedId: number | null;
}

/** What is to be written for one endpoint: its rows, how many of the oldest unsaved ones go for them, and its counters after both. */
export interface EndpointWrite {
  readonly endpointId: number;
  /** Without those that the batch itself would trim again. */
  readonly captures: readonly NewCapture[];
  readonly trimFrom: number;
  /** At most as many as were unsaved before the batch. */
  readonly trimCount: number;
  readonly nextIndex: number;
  readonly latestAt: number;
  readonly savedCount: number;
  readonly unsavedCount: number;
}

type Maybe<T> = T | Promise<T>;

/** Where the limit was lowered, a batch trims this many more than it brings, and not 100,000 at once while its senders wait. */
const MOST_TRIMMED_BEYOND = 500;

/** The statements of a batch, inside its transaction. SQLite answers at once; for PostgreSQL each call is one way there and back. */
export interface CaptureStatements {
  /** Takes the endpoints, in ascending order of ids, until the commit; those that are gone are left out. */
  hold(endpointIds: readonly number[]): Maybe<readonly HeldEndpoint[]>;
  takeSavedIds(count: number): Maybe<readonly number[]>;
  /** Trims, inserts, and keeps the counters, those by method too. */
  write(writes: readonly EndpointWrite[]): Maybe<void>;
}

/** Writes a batch: per endpoint its indexes, its rows, what is trimmed for them, and its counters. */
export async function writeBatch(
  statements: CaptureStatements,
  batch: PackedCaptures,
  limits: CaptureLimits,
): Promise<CaptureOutcome> {
  const outcome = { indexes: new Float64Array(batch.count).fill(-1), savedIds: new Float64Array(batch.count) };
  const groups = groupByEndpoint(batch);
  const held = new Map(
    (await statements.hold(groups.map((group) => group.endpointId))).map((endpoint) => [endpoint.endpointId, endpoint]),
  );
  const plans = groups.flatMap((group) => {
    const endpoint = held.get(group.endpointId);
    return endpoint === undefined ? [] : [{ group, endpoint, toSave: howManyToSave(endpoint, group, limits) }];
  });
  const idsNeeded = plans.reduce((sum, plan) => sum + plan.toSave, 0);
  const savedIds = idsNeeded === 0 ? [] : await statements.takeSavedIds(idsNeeded);
  let used = 0;
  const writes = plans.map(({ group, endpoint, toSave }) => {
    const ids = savedIds.slice(used, (used += toSave));
    group.positions.forEach((position, nth) => {
      outcome.indexes[position] = endpoint.nextIndex + nth;
      outcome.savedIds[position] = ids[nth] ?? 0;
    });
    return endpointWrite(endpoint, group, ids, limits);
  });
  if (writes.length > 0) await statements.write(writes);
  return outcome;
}

/** In ascending order of ids, so that two processes never hold what the other waits for. */
function groupByEndpoint(batch: PackedCaptures): CaptureGroup[] {
  const groups = new Map<number, { endpointId: number; captures: UnpackedCapture[]; positions: number[] }>();
  let position = 0;
  for (const capture of unpackCaptures(batch, METHODS)) {
    let group = groups.get(capture.endpointId);
    if (group === undefined)
      groups.set(capture.endpointId, (group = { endpointId: capture.endpointId, captures: [], positions: [] }));
    group.captures.push(capture);
    group.positions.push(position++);
  }
  return [...groups.values()].toSorted((a, b) => a.endpointId - b.endpointId);
}

function howManyToSave(endpoint: HeldEndpoint, group: CaptureGroup, limits: CaptureLimits): number {
  return endpoint.autosave ? Math.min(group.captures.length, Math.max(0, limits.maxSaved - endpoint.savedCount)) : 0;
}

function endpointWrite(
  endpoint: HeldEndpoint,
  group: CaptureGroup,
  savedIds: readonly number[],
  limits: CaptureLimits,
): EndpointWrite {
  const unsaved = endpoint.unsavedCount + group.captures.length - savedIds.length;
  const excess = Math.max(0, unsaved - limits.maxUnsaved);
  const going = Math.min(excess, group.captures.length + MOST_TRIMMED_BEYOND);
  // What was there before is older than what the batch brings.
  const trimCount = Math.min(going, endpoint.unsavedCount);
  const neverWritten = going - trimCount;
  const captures = group.captures.map((capture, nth) => ({
    endpointId: capture.endpointId,
    receivedAt: capture.receivedAt,
    method: capture.method,
    head: capture.head,
    body: capture.body,
    index: endpoint.nextIndex + nth,
    savedId: savedIds[nth] ?? null,
  }));
  return {
    endpointId: endpoint.endpointId,
    // The saved ones are in front of the unsaved ones.
    captures: neverWritten === 0 ? captures : captures.toSpliced(savedIds.length, neverWritten),
    trimFrom: endpoint.trimFrom,
    trimCount,
    nextIndex: endpoint.nextIndex + group.captures.length,
    latestAt: group.captures.at(-1)?.receivedAt ?? 0,
    savedCount: endpoint.savedCount + savedIds.length,
    unsavedCount: unsaved - going,
  };
}
