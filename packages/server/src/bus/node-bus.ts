import { randomBytes } from 'node:crypto';
import { waitAtMost } from '../limits/timeouts.ts';
import { CoalescedRun } from '../workers/background.ts';
import type { Bus, BusMessage, DeliveredNotice, Notice } from './bus.ts';
import { MAX_PER_NOTICE, partsOf, readMessage, writeMessage } from './bus.ts';

/** Milliseconds between two heartbeats, and between two checks of the heartbeats of all nodes. */
const HEARTBEAT_MS = 500;
const CHECK_MS = 100;
/** A node counts as lost after two missed heartbeats, with this much tolerance. */
const SILENCE_MS = 2 * HEARTBEAT_MS + 100;
/** A node that is lost for this long has ended. */
const FORGET_MS = 60_000;
/** Maximum messages of one send, and messages that wait. Beyond it, all that wait are dropped. */
const MAX_PER_SEND = 100;
const MAX_WAITING = 1000;
/** Milliseconds between two sends, so that a busy node sends one notice for several batches. */
const SEND_MS = 50;
/** Milliseconds for the other nodes to answer at the start, and for the bus to work. The start does not fail. */
const GREETING_MS = 100;
const START_MS = 2000;
/** Milliseconds between two replacements of a channel that delivers nothing. */
const RECONNECT_MS = 2000;

/** A way to send texts to all nodes, this one included. It may lose, repeat and reorder them. */
export interface Channel {
  /** Resolves when more can be sent. */
  send(texts: readonly string[]): Promise<void>;
  /** Replaces the connection, because it delivers nothing. */
  reconnect(): void;
  close(): Promise<void>;
}

/** What a channel reports to the bus. */
export interface ChannelEvents {
  readonly onText: (text: string) => void;
  /** The channel works from now on. What was sent before may not have arrived. */
  readonly onOpen: () => void;
}

/** Another node, as this node knows it. */
interface Peer {
  /** The last sequence number. */
  seen: number;
  /** When its last message came, in milliseconds. */
  lastHeardAt: number;
}

/**
 * Notices over a channel. Each node numbers its notices and sends a heartbeat with the last number, so that the others
 * see what they have missed. It also receives its own heartbeats, which show whether the channel works.
 */
export class NodeBus implements Bus {
  /** Its name in messages. */
  readonly node = randomBytes(9).toString('base64url');
  readonly #channel: Channel;
  readonly #handlers: ((notice: Notice) => void)[] = [];
  readonly #gapHandlers: (() => void)[] = [];
  readonly #peers = new Map<string, Peer>();
  readonly #silent = new Set<string>();
  readonly #timers: NodeJS.Timeout[];
  readonly #greeted = Promise.withResolvers<void>();
  #sequence = 0;
  readonly #captured = new Map<number, number>();
  readonly #delivered = new Map<number, DeliveredNotice['deliveries']>();
  #waiting: string[] = [];
  readonly #sending = new CoalescedRun(() => this.#send());
  #isUp = false;
  #lastOwnAt = performance.now();
  #checkedAt = performance.now();
  #reconnectedAt = 0;

  constructor(openChannel: (events: ChannelEvents) => Channel) {
    this.#channel = openChannel({ onText: (text) => this.#receive(text), onOpen: () => this.#opened() });
    const every = (ms: number, run: () => void): NodeJS.Timeout => setInterval(run, ms).unref();
    this.#timers = [every(HEARTBEAT_MS, () => this.#sendHeartbeat()), every(CHECK_MS, () => this.#checkPeers())];
  }

  /** Resolves when the bus works and the other nodes had time to answer, or after two seconds. */
  async started(): Promise<void> {
    await waitAtMost(START_MS, this.#greeted.promise);
  }

  get isHealthy(): boolean {
    return this.#isUp && this.#silent.size === 0;
  }

  subscribe(handle: (notice: Notice) => void): void {
    this.#handlers.push(handle);
  }

  onGap(handle: () => void): void {
    this.#gapHandlers.push(handle);
  }

  publish(notice: Notice): void {
    if (this.nodeCount === 1) return this.#drop();
    if (notice.kind === 'delivered') this.#collect(notice);
    else this.#enqueue(notice);
    this.#sending.start();
  }

  captured(endpointId: number, index: number): void {
    if (this.nodeCount === 1) return this.#drop();
    this.#captured.set(endpointId, Math.max(index, this.#captured.get(endpointId) ?? -1));
    this.#sending.start();
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#enqueue({ kind: 'left' });
    await waitAtMost(
      HEARTBEAT_MS,
      this.#channel.send(this.#waiting.splice(0)).catch(() => undefined),
    );
    await this.#channel.close();
  }

  /** A node without others sends only heartbeats. */
  get nodeCount(): number {
    return this.#isUp ? this.#peers.size + 1 : 1;
  }

  /** The other nodes then find a missing number, and read everything again. */
  #drop(): void {
    this.#sequence += 1;
  }

  #collect({ endpointId, deliveries }: DeliveredNotice): void {
    const all = [...(this.#delivered.get(endpointId) ?? []), ...deliveries];
    this.#delivered.set(endpointId, all);
    // Only notices that wait are limited.
    if (all.length >= MAX_PER_NOTICE) this.#enqueueCollected();
  }

  /** Captures first, because another node must receive a request before a notice about it. */
  #enqueueCollected(): void {
    this.#number({ kind: 'captured', newest: [...this.#captured] });
    for (const [endpointId, deliveries] of this.#delivered) this.#number({ kind: 'delivered', endpointId, deliveries });
    this.#captured.clear();
    this.#delivered.clear();
  }

  #enqueue(notice: Notice): void {
    this.#enqueueCollected();
    this.#number(notice);
  }

  /** Numbers a notice, in parts that fit into a message each. */
  #number(whole: Notice): void {
    for (const notice of partsOf(whole)) {
      this.#sequence += 1;
      if (this.#waiting.length >= MAX_WAITING) this.#waiting = [];
      else this.#waiting.push(writeMessage({ n: this.node, s: this.#sequence, notice }));
    }
  }

  /** Sends one message at a time. Notices that are published during a send are sent together. */
  async #send(): Promise<void> {
    // At the end of this turn of the event loop, so that a batch of captures is one notice.
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      if (this.#waiting.length < MAX_PER_SEND) this.#enqueueCollected();
      const texts = this.#waiting.splice(0, MAX_PER_SEND);
      if (texts.length === 0) return;
      await this.#channel.send(texts).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, SEND_MS));
    }
  }

  #sendHeartbeat(): void {
    this.#enqueueCollected();
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(writeMessage({ n: this.node, s: this.#sequence }));
    this.#sending.start();
  }

  #opened(): void {
    // While the bus is down, its own first message ends the gap.
    if (this.#isUp) this.#gap();
    this.#enqueue({ kind: 'hello' });
    this.#sending.start();
  }

  #receive(text: string): void {
    const message = readMessage(text);
    if (message === undefined) return;
    if (message.n === this.node) return this.#receiveOwn();
    const isNext = this.#trackSequence(message);
    if (message.notice === undefined || !isNext) return;
    if (message.notice.kind === 'hello') return this.#sendHeartbeat();
    if (message.notice.kind === 'left') return this.#forget(message.n);
    for (const handle of this.#handlers) handle(message.notice);
  }

  #receiveOwn(): void {
    this.#lastOwnAt = performance.now();
    if (this.#isUp) return;
    this.#isUp = true;
    this.#gap();
    setTimeout(() => this.#greeted.resolve(), GREETING_MS).unref();
  }

  /**
   * Compares a message's number with its sender's last one. False for a repeated or late notice: an earlier message has
   * already reported the gap that covers it.
   */
  #trackSequence({ n, s, notice }: BusMessage): boolean {
    const peer = this.#peers.get(n) ?? { seen: 0, lastHeardAt: 0 };
    this.#peers.set(n, peer);
    peer.lastHeardAt = performance.now();
    this.#silent.delete(n);
    const before = peer.seen;
    peer.seen = Math.max(before, s);
    if (s > before + (notice === undefined ? 0 : 1)) this.#gap();
    return s > before;
  }

  #checkPeers(): void {
    const now = performance.now();
    // If this process was stalled, messages may wait in its sockets.
    const late = Math.max(0, now - this.#checkedAt - 2 * CHECK_MS);
    this.#checkedAt = now;
    this.#lastOwnAt += late;
    for (const [node, peer] of this.#peers) {
      peer.lastHeardAt += late;
      if (now - peer.lastHeardAt > FORGET_MS) this.#forget(node);
      else if (!this.#silent.has(node) && now - peer.lastHeardAt > SILENCE_MS) {
        this.#silent.add(node);
        this.#gap();
      }
    }
    if (now - this.#lastOwnAt > SILENCE_MS) this.#markDown(now);
  }

  #forget(node: string): void {
    this.#peers.delete(node);
    this.#silent.delete(node);
  }

  #markDown(now: number): void {
    if (this.#isUp) {
      this.#isUp = false;
      this.#gap();
    }
    if (now - this.#reconnectedAt < RECONNECT_MS) return;
    this.#reconnectedAt = now;
    this.#channel.reconnect();
  }

  #gap(): void {
    for (const handle of this.#gapHandlers) handle();
  }
}
