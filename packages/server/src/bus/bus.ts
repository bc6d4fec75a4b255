import type { Notice } from './notice.ts';

/** Notices between the nodes that share a database (docs/architecture.md, "Several nodes"). */
export interface Bus {
  /**
   * Sends a notice to the other nodes. Call it after the commit. It never waits and never fails: what is lost shows as
   * a gap at the receivers.
   */
  publish(notice: Exclude<Notice, { kind: 'captured' }>): void;
  /** A capture is stored. Captures of one batch are sent as one notice. */
  captured(endpointId: number, index: number): void;
  /** Calls `handle` with each notice of the other nodes, at most once and in the order of its sender. */
  subscribe(handle: (notice: Notice) => void): void;
  /** Calls `handle` when notices may have been lost: data that depends on them must be read again. */
  onGap(handle: () => void): void;
  /** Whether there are other nodes. Without them, what is published is dropped. */
  readonly hasListeners: boolean;
  /** False while notices may be missing. Then the database must be asked at intervals. */
  readonly isHealthy: boolean;
  close(): Promise<void>;
}

/** The bus of a node that is alone with its database. */
export const localBus: Bus = {
  publish: () => undefined,
  captured: () => undefined,
  subscribe: () => undefined,
  onGap: () => undefined,
  hasListeners: false,
  isHealthy: true,
  close: () => Promise.resolve(),
};
