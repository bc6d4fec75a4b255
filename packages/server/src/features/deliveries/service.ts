import { MAX_DESTINATIONS, parseQuery } from '@creel/contract';
import type { DeliveryReport, DestinationChange, DestinationCreate } from '@creel/contract';
import { ProblemError, invalid, invalidQuery } from '../../http/problem.ts';
import type { Bus } from '../../bus/bus.ts';
import type { Remote } from '../../database/remote.ts';
import type { Store } from '../../database/store.ts';
import type { EndpointRecord } from '../../database/records.ts';
import type { RequestRecord } from '../../database/stored-request.ts';
import { throttled } from '../../limits/rate-limits.ts';
import type { Logger } from '../../log.ts';
import { randomToken } from '../../secrets.ts';
import { RunningWork } from '../../workers/background.ts';
import type { accountQueries } from '../accounts/queries.ts';
import type { Replay, Replays, OutboundResponse } from '../replay/service.ts';
import type { requestQueries } from '../requests/queries.ts';
import { WITHOUT_SECRET } from '../signatures/service.ts';
import type { Signatures } from '../signatures/service.ts';
import type { Attempt, RetryRefusal, StoredAttempt } from './attempt-queries.ts';
import { createAnnouncer } from './delivery-announcer.ts';
import type { AnnouncerOptions } from './delivery-announcer.ts';
import { DeliveryPlanner } from './delivery-planner.ts';
import { markOf, newDeliveryId } from './delivery-rules.ts';
import { responseOutcome, failedOutcome, keptResponse } from './attempt-delivery.ts';
import { DeliverySender } from './delivery-sender.ts';
import type { DestinationWithPending } from './destination-queries.ts';
import type { Installation } from './match-queries.ts';
import type { DeliveryQueries } from './queries.ts';
import type { RecordedAttempt } from './record-queries.ts';

/** Pending deliveries that one step of a deletion ends. */
const REMOVED_AT_ONCE = 100;
/** Minimum interval between two logged failures, because while storage is down every poll fails. */
const FAILURE_LOG_MS = 10_000;
/** Milliseconds by which the clock of a user's machine may be wrong. An attempt is made between its capture and its report. */
const MAX_CLOCK_ERROR_MS = 24 * 3_600_000;
const WRONG_TIME = 'at must be between the time of the capture and now';
const RETRY_REFUSALS: Readonly<Record<RetryRefusal, string>> = {
  notForwarded: 'Only a destination can send a delivery again. Replay the request instead.',
  deleted: 'Its destination is deleted. Replay the request instead.',
  off: 'Its destination is off. Turn it on, then send again.',
  paused: 'Its destination is paused. Resume it, then send again.',
};
const TERMS_OF_DELIVERIES: ReadonlySet<string> = new Set(['is', 'status']);
const NOT_YET_KNOWN =
  "Expected a condition that is known at the capture. is: and status: change later, so they can't be used here.";

export interface DeliveriesOptions extends AnnouncerOptions {
  readonly store: Store &
    DeliveryQueries &
    Pick<Remote<typeof accountQueries & typeof requestQueries>, 'findOrCreateSecret' | 'findWhole'>;
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  readonly replays: Replays;
  readonly signatures: Pick<Signatures, 'signerOf'>;
  readonly log: Logger;
  readonly now: () => number;
}

/** Destinations, and all attempts to send captured requests. */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #planner: DeliveryPlanner;
  readonly #sender: DeliverySender;
  readonly #announcer: ReturnType<typeof createAnnouncer>;
  readonly #end = new AbortController();
  readonly #background = new RunningWork();
  readonly #onFailure = throttled(FAILURE_LOG_MS, (error: unknown) =>
    this.#options.log.error({ err: error }, 'deliveries failed; the server tries again'),
  );

  private constructor(options: DeliveriesOptions, installation: Installation) {
    const { store, bus, replays, signatures, now } = options;
    this.#options = options;
    this.#announcer = createAnnouncer(options);
    const onFailure = this.#onFailure;
    this.#planner = new DeliveryPlanner({
      store,
      installation,
      now,
      onFailure,
      onPlanned: (endpointId, { destinationIds, planned, refused }) => {
        this.#announcer.refused(endpointId, refused);
        if (destinationIds.length > 0) this.#sender.wake(destinationIds);
        this.#begin(() => this.#announcer.waiting(endpointId, planned, this.#end.signal));
      },
    });
    this.#sender = new DeliverySender({
      store,
      mark: installation.mark,
      now,
      signerOf: (endpoint) => signatures.signerOf(endpoint),
      onFailure,
      forward: (request, signal) => replays.forward(request, signal),
      onRecorded: (recorded) => this.#announcer.recorded(recorded),
      onHeldElsewhere: (destinationIds) => bus.publish({ kind: 'due', destinationIds }),
    });
    bus.subscribe((notice) => {
      if (notice.kind === 'due') this.#sender.wakeHeld(notice.destinationIds);
    });
  }

  /** Marks and ids are keyed with a secret that all processes of the installation share. */
  static async create(options: DeliveriesOptions): Promise<Deliveries> {
    const secret = await options.store.findOrCreateSecret('deliveries', randomToken());
    return new Deliveries(options, { mark: markOf(secret), secret });
  }

  start(): void {
    this.#begin(() => this.#prepareForDestinations());
    this.#begin(() => this.#planner.start());
    this.#begin(() => this.#sender.start());
  }

  async stop(maxMs: number): Promise<void> {
    this.#end.abort();
    await this.#planner.stop();
    await this.#sender.stop(maxMs);
    await this.#background.ended();
  }

  /** Runs work in the background. `stop` waits for it, because the store is closed next. */
  #begin(work: () => Promise<void>): void {
    if (!this.#end.signal.aborted) this.#background.add(work().catch(this.#onFailure));
  }

  /** An endpoint with destinations has a new capture. */
  wake(endpointId: number, userId: number): void {
    this.#planner.wake(endpointId, userId);
  }

  /**
   * Creates a destination. @throws ProblemError VALIDATION_FAILED, INVALID_QUERY, TARGET_NOT_ALLOWED,
   * TOO_MANY_DESTINATIONS or ENDPOINT_NOT_FOUND
   */
  async create(endpoint: EndpointRecord, fields: DestinationCreate): Promise<DestinationWithPending> {
    const { store, now } = this.#options;
    await this.#check(endpoint, fields);
    const created = await store.createDestination(endpoint.id, fields, { now: now(), limit: MAX_DESTINATIONS });
    if (created === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
    if (created === 'limit') throw new ProblemError('TOO_MANY_DESTINATIONS');
    this.#begin(() => this.#prepare(endpoint.id));
    return created;
  }

  /** Captures until now are planned with the old settings. @throws ProblemError as `create`, DESTINATION_NOT_FOUND */
  async change(endpoint: EndpointRecord, id: number, changes: DestinationChange): Promise<DestinationWithPending> {
    const { store, now } = this.#options;
    await this.expectDestination(endpoint.id, id);
    await this.#check(endpoint, changes);
    await this.#planner.planAll(endpoint.id);
    const changed = await store.changeDestination(endpoint.id, id, changes, now());
    if (changed === undefined) throw new ProblemError('DESTINATION_NOT_FOUND');
    this.#sender.wake([id]);
    return changed;
  }

  /** Deletes a destination and its pending deliveries. @throws ProblemError DESTINATION_NOT_FOUND */
  async remove(endpoint: EndpointRecord, id: number): Promise<void> {
    const { store } = this.#options;
    await this.#planner.planAll(endpoint.id);
    const ended: number[] = [];
    for (let isFinished = false; !isFinished;) {
      const step = await store.removeDestination(endpoint.id, id, REMOVED_AT_ONCE);
      if (step === undefined) throw new ProblemError('DESTINATION_NOT_FOUND');
      ended.push(...step.ended);
      ({ isFinished } = step);
    }
    this.#announcer.ended(endpoint.id, ended);
  }

  /** Stores an attempt of `creel forward`. @throws ProblemError VALIDATION_FAILED or REQUEST_NOT_FOUND */
  async report(
    { endpointId, index, receivedAt }: Pick<RequestRecord, 'endpointId' | 'index' | 'receivedAt'>,
    report: DeliveryReport,
  ): Promise<StoredAttempt> {
    const { responseBody, responseBodyEncoding, responseTruncated, statusText, at: sentAt, ...rest } = report;
    const at = Date.parse(sentAt);
    if (at < receivedAt - MAX_CLOCK_ERROR_MS || at > this.#options.now() + MAX_CLOCK_ERROR_MS)
      throw invalid({ at: WRONG_TIME });
    const body = responseBody === null ? null : Buffer.from(responseBody, responseBodyEncoding);
    const attempt: Attempt = {
      ...rest,
      statusText: statusText ?? '',
      endpointId,
      index,
      deliveryId: newDeliveryId(),
      kind: 'cli',
      destinationId: null,
      at,
      nextAttemptAt: null,
      ...keptResponse(body, responseTruncated),
    };
    const stored = await this.#record(attempt);
    if (stored === null) throw new ProblemError('REQUEST_NOT_FOUND');
    return { ...attempt, ...stored };
  }

  /** Sends a delivery again at once. @throws ProblemError DELIVERY_NOT_FOUND or DELIVERY_NOT_RETRYABLE */
  async retry(endpointId: number, deliveryId: string): Promise<void> {
    const result = await this.#options.store.retryDelivery(endpointId, deliveryId, this.#options.now());
    if (result === 'notFound') throw new ProblemError('DELIVERY_NOT_FOUND');
    if (typeof result === 'string')
      throw new ProblemError('DELIVERY_NOT_RETRYABLE', { sentence: RETRY_REFUSALS[result] });
    this.#sender.wake([result.destinationId]);
  }

  /** Sends a replay of a captured request, and stores the attempt. Returns or throws as `send` does. */
  async recordReplay(
    { endpoint, index }: { readonly endpoint: Pick<EndpointRecord, 'id'>; readonly index: number },
    { method, url }: Pick<Replay, 'method' | 'url'>,
    send: () => Promise<OutboundResponse>,
  ): Promise<OutboundResponse> {
    const at = this.#options.now();
    const began = performance.now();
    const attempt = {
      endpointId: endpoint.id,
      index,
      deliveryId: newDeliveryId(),
      kind: 'replay',
      destinationId: null,
      url,
      method,
      attempt: 1,
      at,
      nextAttemptAt: null,
    } as const;
    // The replay was sent, so its answer counts even if the history can't be written.
    const record = (outcome: ReturnType<typeof responseOutcome>) =>
      this.#record({ ...attempt, ...outcome }).catch(this.#onFailure);
    try {
      const response = await send();
      await record(responseOutcome(response));
      return response;
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'REPLAY_FAILED')
        await record(failedOutcome(error, performance.now() - began));
      throw error;
    }
  }

  async #record(attempt: Attempt): Promise<RecordedAttempt | null> {
    const recorded = await this.#options.store.recordAttempts([attempt], this.#options.now());
    this.#announcer.recorded(recorded);
    return recorded[0] ?? null;
  }

  async #prepareForDestinations(): Promise<void> {
    const endpointId = await this.#options.store.findForwardingEndpoint();
    if (endpointId !== undefined) await this.#prepare(endpointId);
  }

  /** Starts the threads that evaluate conditions and send, so that the first delivery does not wait for them. */
  async #prepare(endpointId: number): Promise<void> {
    this.#options.replays.prepare();
    await this.#planner.planAll(endpointId, this.#end.signal);
  }

  /** @throws ProblemError DESTINATION_NOT_FOUND */
  async expectDestination(endpointId: number, id: number): Promise<void> {
    const destinations = await this.#options.store.listDestinations(endpointId);
    if (!destinations.some((destination) => destination.id === id)) throw new ProblemError('DESTINATION_NOT_FOUND');
  }

  /** @throws ProblemError DELIVERY_NOT_FOUND */
  async expectDelivery(endpointId: number, deliveryId: string): Promise<void> {
    if (!(await this.#options.store.hasDelivery(endpointId, deliveryId))) throw new ProblemError('DELIVERY_NOT_FOUND');
  }

  async #check(endpoint: EndpointRecord, { url, query, sign }: DestinationChange): Promise<void> {
    if (query !== undefined) checkCondition(query);
    if (sign === true && (await this.#options.signatures.signerOf(endpoint)) === undefined)
      throw invalid({ sign: WITHOUT_SECRET });
    if (url !== undefined) await this.#options.replays.checkTarget(url, endpoint.userId);
  }
}

/** @throws ProblemError INVALID_QUERY with the position of the mistake */
function checkCondition(text: string): void {
  const result = parseQuery(text);
  if (!result.ok) throw invalidQuery('query', result.sentence, result.position);
  const later = result.terms.find(({ term }) => TERMS_OF_DELIVERIES.has(term.kind));
  if (later !== undefined) throw invalidQuery('query', NOT_YET_KNOWN, later.position);
}
