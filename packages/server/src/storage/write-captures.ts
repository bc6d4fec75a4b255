import { METHODS } from 'node:http';
import { unpackCaptures } from './packed-captures.ts';
import type { PackedCaptures, UnpackedCapture } from './packed-captures.ts';
import type { CaptureLimits, CaptureOutcome, MethodCount } from './store.ts';

/** The endpoint as a batch finds it, its row held until the batch is committed. */
export interface ReservedEndpoint {
  /** Index of the batch's first capture. */
  readonly first: number;
  /** Below it everything was cleared. */
  readonly floor: number;
  readonly autosave: boolean;
  readonly savedCount: number;
  readonly unsavedCount: number;
}

export interface NewCapture extends UnpackedCapture {
  readonly index: number;
  readonly savedId: number | null;
}

type Maybe<T> = T | Promise<T>;

/** The statements of a batch, inside its transaction. SQLite answers at once, PostgreSQL later. */
export interface CaptureStatements {
  /** Gives out `count` indexes; `undefined` when the endpoint is gone. */
  reserve(endpointId: number, count: number, latestAt: number): Maybe<ReservedEndpoint | undefined>;
  takeSavedIds(count: number): Maybe<readonly number[]>;
  insert(captures: readonly NewCapture[]): Maybe<void>;
  /** Deletes the `count` oldest unsaved requests; what went, by method. */
  trim(endpointId: number, floor: number, count: number): Maybe<readonly MethodCount[]>;
  addMethodCount(endpointId: number, count: MethodCount): Maybe<void>;
  setCounts(endpointId: number, savedCount: number, unsavedCount: number): Maybe<void>;
}

/** Writes a batch: per endpoint its indexes, its rows, what is trimmed for them, and its counters. */
export async function writeBatch(statements: CaptureStatements, batch: PackedCaptures, limits: CaptureLimits): Promise<CaptureOutcome> {
  const captures = [...unpackCaptures(batch, METHODS)];
  const outcome = { indexes: new Float64Array(batch.count).fill(-1), savedIds: new Float64Array(batch.count) };
  for (const [endpointId, positions] of groupByEndpoint(captures)) {
    await writeEndpoint(statements, endpointId, positions, captures, limits, outcome);
  }
  return outcome;
}

/** In ascending order of ids, so that two processes never hold what the other waits for. */
function groupByEndpoint(captures: readonly UnpackedCapture[]): [number, number[]][] {
  const groups = new Map<number, number[]>();
  captures.forEach((capture, position) => {
    const group = groups.get(capture.endpointId);
    if (group === undefined) groups.set(capture.endpointId, [position]);
    else group.push(position);
  });
  return [...groups].toSorted(([a], [b]) => a - b);
}

async function writeEndpoint(
  statements: CaptureStatements,
  endpointId: number,
  positions: readonly number[],
  captures: readonly UnpackedCapture[],
  limits: CaptureLimits,
  outcome: CaptureOutcome,
): Promise<void> {
  const group = positions.map((position) => captures[position]).filter((capture) => capture !== undefined);
  const endpoint = await statements.reserve(endpointId, group.length, group.at(-1)?.receivedAt ?? 0);
  if (endpoint === undefined) return;
  const room = endpoint.autosave ? Math.max(0, limits.maxSaved - endpoint.savedCount) : 0;
  const toSave = Math.min(group.length, room);
  const savedIds = toSave === 0 ? [] : await statements.takeSavedIds(toSave);
  const rows = group.map((capture, nth) => ({ ...capture, index: endpoint.first + nth, savedId: savedIds[nth] ?? null }));
  await statements.insert(rows);
  rows.forEach((row, nth) => {
    const position = positions[nth] ?? 0;
    outcome.indexes[position] = row.index;
    outcome.savedIds[position] = row.savedId ?? 0;
  });
  const unsaved = endpoint.unsavedCount + group.length - toSave;
  const excess = Math.max(0, unsaved - limits.maxUnsaved);
  const trimmed = excess === 0 ? [] : await statements.trim(endpointId, endpoint.floor, excess);
  for (const count of methodChanges(group, trimmed)) await statements.addMethodCount(endpointId, count);
  await statements.setCounts(endpointId, endpoint.savedCount + toSave, unsaved - excess);
}

/** What was added less what was trimmed, by method; methods that come out even are left out. */
function methodChanges(added: readonly UnpackedCapture[], trimmed: readonly MethodCount[]): MethodCount[] {
  const changes = new Map<string, { stored: number; bytes: number }>();
  const add = (method: string, stored: number, bytes: number): void => {
    const change = changes.get(method);
    if (change === undefined) changes.set(method, { stored, bytes });
    else {
      change.stored += stored;
      change.bytes += bytes;
    }
  };
  for (const capture of added) add(capture.method, 1, capture.body?.length ?? 0);
  for (const { method, stored, bytes } of trimmed) add(method, -stored, -bytes);
  return [...changes].filter(([, change]) => change.stored !== 0 || change.bytes !== 0).map(([method, change]) => ({ method, ...change }));
}
