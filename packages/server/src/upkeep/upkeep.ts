import type { Config } from '../config.ts';
import type { Live } from '../live/live.ts';
import type { Logger } from '../log.ts';
import type { Store } from '../storage/store.ts';

/** Time-driven work runs at least once a minute (contract 7); a purge step that left work goes on soon. */
const ROUND_MS = 20_000;
const PURGE_PAUSE_MS = 20;
/** Rows and endpoints per step: each step is one short transaction between captures. */
const PURGE_ROWS = 200;
const EXPIRED_ENDPOINTS = 50;

export interface UpkeepOptions {
  readonly store: Store;
  readonly config: Config;
  readonly live: Live;
  readonly log: Logger;
  readonly now: () => number;
  readonly forgetEndpoint: (uid: string) => void;
}

/** What has to happen as time goes by: expired endpoints, ended sessions, cleared rows. Safe in several processes at once. */
export class UpkeepLoop {
  readonly #options: UpkeepOptions;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  start(): void {
    this.#next(0);
  }

  /** Stops after the step that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  /** One round: everything that is due by now. True when purging is not finished. */
  async runOnce(): Promise<boolean> {
    const { store, config, live, now, forgetEndpoint } = this.#options;
    await store.deleteExpiredSessions(now());
    await store.deleteStaleAccountRows(now());
    const expired = await store.deleteExpiredEndpoints(now() - config.expiredRetentionMs, EXPIRED_ENDPOINTS);
    for (const endpoint of expired) {
      forgetEndpoint(endpoint.uid);
      live.publish(endpoint.id, { type: 'gone' });
    }
    return (await store.purgeSome(PURGE_ROWS)) || expired.length === EXPIRED_ENDPOINTS;
  }

  #next(delay: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.runOnce().then(
        (more) => this.#next(more ? PURGE_PAUSE_MS : ROUND_MS),
        (error: unknown) => {
          this.#options.log.error({ err: error }, 'upkeep failed; it is tried again');
          this.#next(ROUND_MS);
        },
      );
    }, delay);
    this.#timer.unref();
  }
}
