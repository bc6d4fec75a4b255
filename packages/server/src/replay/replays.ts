import type { RawHeaders } from '@creel/contract';
import { ProblemError } from '../problem.ts';
import { exchange } from './exchange.ts';
import type { Incoming } from './exchange.ts';
import { openConnection } from './open-connection.ts';
import { ReplayFailure, failureOf } from './replay-failure.ts';
import { ReplayLimits } from './replay-limits.ts';
import { lookUpInPublic, lookUpOnSystem, resolveTarget } from './resolve-target.ts';
import type { Lookup } from './resolve-target.ts';
import { checkPort, parseTarget } from './target.ts';
import type { Target } from './target.ts';

/** A target has this long for everything: to be reached, to take the body, and to answer (hardening S7). */
const MOST_MS = 30_000;

/** A request that is sent again, or a new one. */
export interface Replay {
  readonly method: string;
  /** As `targetUrlSchema` has let it through. */
  readonly url: string;
  readonly headers: RawHeaders;
  /** Read when it is sent: who waits in line holds no body. */
  readonly readBody: () => Promise<Uint8Array>;
}

/** What the target answered. */
export interface ReplayResult extends Incoming {
  readonly durationMs: number;
}

export interface ReplayOptions {
  /** Whether this machine and private networks may be reached (contract 8, `ALLOW_PRIVATE_TARGETS`). */
  readonly allowPrivate: boolean;
  readonly now: () => number;
  /** By what name we go where a replay has no `User-Agent` of its own. */
  readonly userAgent: () => string;
  /** By default the public DNS, and the system's own names where private targets are allowed. */
  readonly lookUp?: Lookup;
  readonly mostMs?: number;
}

/**
 * Sends requests to targets that users name: the one place of the server that does, so that each of them passes the same guard. What the
 * target answers is handed on as it came; redirects are not followed.
 */
export class Replays {
  readonly #options: Required<ReplayOptions>;
  readonly #limits: ReplayLimits;

  constructor(options: ReplayOptions) {
    this.#options = { lookUp: options.allowPrivate ? lookUpOnSystem : lookUpInPublic, mostMs: MOST_MS, ...options };
    this.#limits = new ReplayLimits(options.now);
  }

  /**
   * Sends a person's replay when it is its turn. `gone` goes off when nobody waits for the answer any more.
   * @throws ProblemError TARGET_NOT_ALLOWED, RATE_LIMITED, or REPLAY_FAILED with the reason
   * @throws LineTooLong
   */
  async send(person: number, replay: Replay, gone: AbortSignal): Promise<ReplayResult> {
    const target = parseTarget(replay.url);
    this.#limits.count(person, target.host);
    return this.#limits.inTurn(person, async () => {
      if (gone.aborted) throw new ReplayFailure('The replay was given up before it was sent.');
      return this.#sendTo(target, replay, gone);
    });
  }

  async #sendTo(target: Target, { method, headers, readBody }: Replay, gone: AbortSignal): Promise<ReplayResult> {
    const { allowPrivate, lookUp, mostMs, userAgent } = this.#options;
    const began = performance.now();
    const addresses = await resolveTarget(target.host, { allowPrivate, lookUp });
    checkPort(target);
    const body = await readBody();
    const tooLong = new AbortController();
    const timer = setTimeout(() => tooLong.abort(tooSlow(mostMs)), mostMs).unref();
    const { authority, path } = target;
    const outgoing = { method, path, authority, headers, body, userAgent: userAgent() };
    try {
      const signal = AbortSignal.any([gone, tooLong.signal]);
      const incoming = await exchange(openConnection(target, addresses, allowPrivate), outgoing, signal);
      return { ...incoming, durationMs: performance.now() - began };
    } catch (error) {
      throw error instanceof ProblemError ? error : failureOf(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function tooSlow(mostMs: number): ReplayFailure {
  return new ReplayFailure(`The target did not answer within ${Math.round(mostMs / 1000)} seconds.`);
}
