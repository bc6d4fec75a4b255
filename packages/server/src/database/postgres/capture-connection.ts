import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { joinCaptures, unpackCaptures, withoutStale } from '../packed-captures.ts';
import type { PackedCaptures } from '../packed-captures.ts';
import { databaseTooLate } from '../store.ts';
import type { CaptureLimits, CaptureOutcome, DrainedBatch } from '../store.ts';
import { repeatedOutcome, SMALL_WRITE, createTrimmer, writeBatch } from '../write-captures.ts';
import { CAPTURE_SETTINGS, EndpointsChanged, findReceipts, postgresCaptureStatements } from './capture-statements.ts';
import type { KnownEndpoints } from './capture-statements.ts';
import { assertDurable, backendOf, clientConfig, sessionSettings } from './session.ts';
import type { SessionKind } from './session.ts';
import { codeOf } from '../../error-code.ts';
import { withTimeout } from '../../limits/timeouts.ts';
import { faultOf, isRefusal, withStorageErrors } from './faults.ts';

/** Default limit of a batch and of a check. Senders are answered within 5 s, even if PostgreSQL does not answer. */
const WITHIN_MS = 4000;
/** Milliseconds before a batch is written again, or looked up after a commit that was not answered. */
const RETRY_MS = 50;
/** The batch's id is stored already: the commit whose answer was lost took effect after the lookup. */
const UNIQUE_VIOLATION = '23505';

/** A row that is rolled back. Its key belongs to no endpoint, and its body does not fit into existing pages. */
const TRIAL_CAPTURE =
  "insert into captured_requests (key, method, received_at, head, body) values (-1, 'POST', 0, '', $1)";
const TRIAL_BYTES = 64 * 1024;

/** Milliseconds by which the clocks of two nodes may differ: a capture may seem this much older than its endpoint. */
const CLOCK_DIFFERENCE_MS = 10_000;

interface Session {
  readonly client: pg.Client;
  readonly known: KnownEndpoints;
  /** Ends the connection at once, also while statements are not answered. */
  readonly destroy: () => void;
}

/**
 * A connection for captures, which writes one batch at a time. A failed batch closes it, which rolls back the
 * transaction. The next batch opens a new one, so its state is always known.
 */
export class CaptureConnection {
  readonly #url: string;
  readonly #kind: SessionKind;
  #session: Session | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** The last batch was not stored, and no check has succeeded since. */
  #hasFailed = false;
  readonly #trimAfter = createTrimmer((batch, limits) => this.writeCaptures(batch, limits));

  constructor(url: string, kind: SessionKind) {
    this.#url = url;
    this.#kind = kind;
  }

  /**
   * Stores a batch, once: after a lost connection its id shows whether the commit took effect. @throws
   * StorageUnavailable when PostgreSQL does not answer within `withinMs`; the batch may still be stored.
   */
  writeCaptures(batch: PackedCaptures, limits: CaptureLimits, withinMs = WITHIN_MS): Promise<CaptureOutcome> {
    return this.#next(withinMs, async (deadline) => {
      let mayBeStored = false;
      const attempt = async (session: Session): Promise<CaptureOutcome> => {
        const receipts = mayBeStored ? (await findReceipts(session.client, [batch.id])).get(batch.id) : undefined;
        if (receipts !== undefined) return repeatedOutcome(batch, receipts);
        const wasSent = mayBeStored;
        return writeOnce(session, batch, limits, () => (mayBeStored = true)).catch(async (error: unknown) => {
          if (isRefusal(error) && (await isAnswering(session))) mayBeStored = wasSent;
          throw error;
        });
      };
      for (;;) {
        try {
          const outcome = await this.#run(deadline, attempt);
          this.#hasFailed = false;
          this.#trimAfter(outcome, limits);
          return { ...outcome, recycled: batch.bytes.buffer };
        } catch (error) {
          const isRepeatable = faultOf(error) === 'conflict' || (mayBeStored && isAmbiguous(error));
          if (!isRepeatable || performance.now() >= deadline) {
            this.#hasFailed = true;
            throw error;
          }
          await sleep(RETRY_MS);
        }
      }
    });
  }

  /** Stores batches of the overflow log in one transaction, in order and once. @throws StorageUnavailable */
  writeLogged(batches: readonly PackedCaptures[], limits: CaptureLimits, withinMs: number): Promise<DrainedBatch[]> {
    const ids = batches.map(({ id }) => id);
    const write = async (session: Session): Promise<DrainedBatch[]> => {
      const known = await findReceipts(session.client, ids);
      const drained = batches.flatMap((batch) => {
        const receipts = known.get(batch.id);
        return receipts === undefined ? [] : [{ batch, outcome: repeatedOutcome(batch, receipts) }];
      });
      const missing = batches.filter(({ id }) => !known.has(id));
      if (missing.length === 0) return drained;
      const batch = await withoutOlderThanEndpoint(session.client, joinCaptures(missing));
      const outcome = await writeOnce(session, batch, limits, () => undefined);
      this.#trimAfter(outcome, limits);
      return [...drained, { batch, outcome }];
    };
    return this.#next(withinMs, (deadline) =>
      this.#run(deadline, write).catch((error: unknown) => {
        // Another node, or a commit whose answer was lost, stored one of them after the lookup.
        if (codeOf(error) !== UNIQUE_VIOLATION && faultOf(error) !== 'conflict') throw error;
        return this.#run(deadline, write);
      }),
    );
  }

  /** Resolves when captures can be stored durably. @throws StorageProblem when the server does not guarantee it. */
  check(withinMs = WITHIN_MS): Promise<void> {
    return this.#next(withinMs, (deadline) => this.#run(deadline, ({ client }) => assertDurable(client)));
  }

  /**
   * The same, after a small commit, on the connection of captures. After a batch has failed it also needs room for a
   * capture: on a full disk, small changes of existing rows still work.
   */
  checkWritable(): Promise<void> {
    return this.#next(WITHIN_MS, (deadline) =>
      this.#run(deadline, async ({ client }) => {
        await assertDurable(client);
        await client.query(SMALL_WRITE);
        if (!this.#hasFailed) return;
        await client.query('begin');
        await client.query(TRIAL_CAPTURE, [randomBytes(TRIAL_BYTES)]);
        await client.query('rollback');
        this.#hasFailed = false;
      }),
    );
  }

  /** The process of PostgreSQL that serves this connection. */
  backend(): Promise<number> {
    return this.#next(WITHIN_MS, (deadline) => this.#run(deadline, ({ client }) => backendOf(client)));
  }

  /** Closes the connection after the running batch. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
    await this.#session?.client.end();
    this.#session = undefined;
  }

  /** A batch whose time ends while it waits is not sent, because the overflow log needs the rest of its sender's time. */
  #next<T>(withinMs: number, work: (deadline: number) => Promise<T>): Promise<T> {
    const deadline = performance.now() + withinMs;
    const before = this.#last;
    const done = withTimeout(withinMs, before, databaseTooLate).then(() => withStorageErrors(work(deadline)));
    // Without a value: it would hold the outcomes of all earlier batches.
    this.#last = Promise.allSettled([before, done]).then(() => undefined);
    return done;
  }

  /** Runs one attempt, and ends the connection at the deadline or after a failure. */
  async #run<T>(deadline: number, work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#closed) throw new Error('Storage is closed.');
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) throw databaseTooLate();
    const session = this.#session ?? this.#open();
    const timer = setTimeout(session.destroy, leftMs);
    try {
      if (this.#session === undefined) await this.#connect(session);
      return await work(session);
    } catch (error) {
      this.#drop(session);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #open(): Session {
    const socket = new Socket();
    const client = new pg.Client({ ...clientConfig(this.#url, this.#kind), stream: () => socket });
    const session = { client, known: new Map(), destroy: () => void socket.destroy() };
    // Between batches no call waits for a result; the next batch opens a new connection.
    client.on('error', () => this.#drop(session));
    client.on('end', () => this.#drop(session));
    return session;
  }

  async #connect(session: Session): Promise<void> {
    const { client } = session;
    await client.connect();
    await assertDurable(client);
    await client.query(`${sessionSettings(this.#kind)}; ${CAPTURE_SETTINGS}`);
    this.#session = session;
  }

  #drop(session: Session): void {
    if (this.#session === session) this.#session = undefined;
    session.destroy();
  }
}

/** Writes a batch, and once more with its endpoints locked if they have changed. */
async function writeOnce(
  session: Session,
  batch: PackedCaptures,
  limits: CaptureLimits,
  onCommit: () => void,
): Promise<CaptureOutcome> {
  const write = (): Promise<CaptureOutcome> =>
    writeBatch(postgresCaptureStatements(session, batch, onCommit), batch, limits);
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof EndpointsChanged)) throw error;
    return write();
  }
}

/** False after a crash of the server, which may have written the commit before it reported the error. */
async function isAnswering({ client }: Session): Promise<boolean> {
  return client.query('select').then(
    () => true,
    () => false,
  );
}

/** The error leaves open whether an earlier attempt was committed. */
function isAmbiguous(error: unknown): boolean {
  return faultOf(error) !== 'query' || codeOf(error) === UNIQUE_VIOLATION;
}

/**
 * Assigns captures that are older than their endpoint to none, so that they are not stored. After a restore of an older
 * backup, PostgreSQL assigns the ids of endpoints again that are not in it. A new endpoint would then get captures of
 * another user from the overflow log.
 */
async function withoutOlderThanEndpoint(client: pg.Client, batch: PackedCaptures): Promise<PackedCaptures> {
  const endpointIds = new Set(unpackCaptures(batch).map((capture) => capture.endpointId));
  const { rows } = await client.query<{ id: number; createdAt: number }>(
    'select id, created_at as "createdAt" from endpoints where id = any($1::bigint[])',
    [[...endpointIds]],
  );
  const createdAt = new Map(rows.map((row) => [row.id, row.createdAt]));
  return withoutStale(
    batch,
    (endpointId, receivedAt) => receivedAt < (createdAt.get(endpointId) ?? 0) - CLOCK_DIFFERENCE_MS,
  );
}
