import type { RawHeaders } from '@creel/contract';
import { ProblemError } from '../../http/problem.ts';
import { exchange } from './exchange.ts';
import type { Incoming } from './exchange.ts';
import { openConnection } from './open-connection.ts';
import { ReplayFailure, failureOf } from './replay-failure.ts';
import { resolveTarget } from './resolve-target.ts';
import type { Lookup } from './resolve-target.ts';
import { checkPort, parseTarget } from './target.ts';

/** A replay whose turn has come. */
export interface Errand {
  readonly method: string;
  /** As `targetUrlSchema` has let it through. */
  readonly url: string;
  readonly headers: RawHeaders;
  readonly body: Uint8Array;
  /** By what name we go where the headers have none. */
  readonly userAgent: string;
  /** Whether this machine and private networks may be reached (contract 8, `ALLOW_PRIVATE_TARGETS`). */
  readonly allowPrivate: boolean;
  /** The target has this long for everything: to be reached, to take the body, and to answer. */
  readonly mostMs: number;
}

/** What the target answered. */
export interface Carried extends Incoming {
  readonly durationMs: number;
}

/** Takes a replay to its target and brings the answer back. `gone` goes off when nobody waits for it any more. */
export type Carry = (errand: Errand, gone: AbortSignal) => Promise<Carried>;

/**
 * Carries a replay: where it leads is checked, then connected to, and to nothing else.
 * @throws ProblemError TARGET_NOT_ALLOWED, or REPLAY_FAILED with the reason
 */
export async function carry(errand: Errand, gone: AbortSignal, lookUp: Lookup): Promise<Carried> {
  const { allowPrivate, mostMs } = errand;
  const began = performance.now();
  const target = parseTarget(errand.url);
  const tooLong = new AbortController();
  const timer = setTimeout(() => tooLong.abort(tooSlow(mostMs)), mostMs).unref();
  const { authority, path } = target;
  try {
    const addresses = await resolveTarget(target.host, { allowPrivate, lookUp });
    checkPort(target);
    const signal = AbortSignal.any([gone, tooLong.signal]);
    const socket = openConnection(target, addresses, allowPrivate);
    const incoming = await exchange(socket, { ...errand, authority, path }, signal);
    return { ...incoming, durationMs: performance.now() - began };
  } catch (error) {
    throw error instanceof ProblemError ? error : failureOf(error);
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(mostMs: number): ReplayFailure {
  return new ReplayFailure(`The target did not answer within ${Math.round(mostMs / 1000)} seconds.`);
}
