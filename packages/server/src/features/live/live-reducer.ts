import { bytesOf, frameOf } from './live-events.ts';
import type { EndpointMessage, FeedEvent, UnresolvedEvent } from './live-events.ts';
import { EMPTY_QUEUE, NEW_LIVE_STATE, NO_EVENTS, heldBytes, push, shift, unshift } from './live-state.ts';
import type { Effect, Input, LiveState, Step, LiveContext } from './live-state.ts';

/** Maximum number and bytes of waiting events. Beyond either limit they are dropped and an `init` follows. */
const MAX_WAITING = 1000;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/**
 * Frames per flush, and milliseconds between flushes: about 4,000 a second, more than a screen can show. The first
 * event after a pause is sent at once.
 */
const FRAMES_PER_FLUSH = 64;
const FLUSH_MS = 16;
/** Nothing is sent to a viewer with more pending bytes than this. */
const MAX_PENDING_BYTES = 1024 * 1024;
/** Milliseconds before a viewer that can't keep up gets a new `init`, or before the next check whether it can take one. */
const NEW_INIT_MS = 250;
/** Milliseconds before a failed read is retried. */
const RETRY_MS = 1000;
/** Maximum growth of an event in its serialized form: headers appear twice, with escaped quotation marks. */
const FRAME_GROWTH = 4;

/** The next state and what to do. Pure: the connection performs the effects and reports their results as inputs. */
export function reduce(state: LiveState, input: Input, context: LiveContext): Step {
  if (state.phase === 'stopped') return [state, []];
  switch (input.type) {
    case 'start':
      return load(state);
    case 'event':
      return receive(state, input.event, context);
    case 'endpoint':
      return flushSoon({ ...state, endpoint: input.message }, context);
    case 'snapshot':
      return beginInit(state, input, context);
    case 'snapshot-failed':
      return state.meanwhile === 'stale' ? load(state) : fallBehind(state, RETRY_MS);
    case 'part-sent':
      return partSent({ ...state, initBytes: input.bytes, partBytes: input.partBytes }, input.isLast, context);
    case 'found':
    case 'looked-up':
    case 'read-failed':
      return input.readId === state.reading ? readEnded(state, input, context) : [state, []];
    case 'timer':
      return timerEnded({ ...state, isTimed: false }, context);
    case 'gap':
      return noteGap(state);
    case 'stop':
      return [{ ...NEW_LIVE_STATE, phase: 'stopped' }, []];
  }
}

function takesEvents({ phase }: LiveState): boolean {
  return phase === 'loading' || phase === 'sending' || phase === 'live';
}

function load(state: LiveState): Step {
  return [{ ...state, ...NO_EVENTS, phase: 'loading', meanwhile: 'nothing' }, [{ type: 'load' }]];
}

function receive(state: LiveState, event: FeedEvent | UnresolvedEvent, context: LiveContext): Step {
  if (!takesEvents(state) || state.meanwhile !== 'nothing') return [state, []];
  // The snapshot may be older than the clear and have newer requests. Sends neither, and reads the next snapshot.
  if (state.phase === 'loading' && event.type === 'clear') return [{ ...state, ...NO_EVENTS, meanwhile: 'stale' }, []];
  if (isOverrun(state, bytesOf(event), context)) return overflow(state, NEW_INIT_MS);
  if (state.phase === 'loading' || state.reading !== undefined)
    return [{ ...state, held: push(state.held, event) }, []];
  return flushAfter(enqueue(state, event), context);
}

function isOverrun(state: LiveState, bytes: number, { maxBytes, pendingBytes }: LiveContext): boolean {
  const [count, total] = [state.ready.size + state.held.size, state.ready.bytes + state.held.bytes + bytes];
  if (count >= MAX_WAITING || (total > MAX_WAITING_BYTES && count > 0)) return true;
  return heldBytes(state, pendingBytes) + bytes > maxBytes;
}

/** Queues an event to be sent. If requests before it are missing, reads them first. */
function enqueue(state: LiveState, event: FeedEvent | UnresolvedEvent): Step {
  const { newest, held } = state;
  switch (event.type) {
    case 'request':
      if (event.index <= newest) return [state, []];
      if (event.index > newest + 1) return read({ ...state, held: push(held, event) }, event.index - 1);
      return [{ ...state, newest: event.index, ready: push(state.ready, event) }, []];
    case 'stored':
      return event.upTo <= newest ? [state, []] : read(state, event.upTo);
    case 'lookup':
      return beginRead(state, (readId) => ({ type: 'lookup', readId, find: event.find }));
    case 'clear':
      return enqueueClear(state, event);
    case 'saved':
      // A request that was not sent yet is read in its saved form.
      if (event.data.request.index > newest) return read(state, event.data.request.index);
      break;
    case 'delivery':
      if (event.data.index > newest) return read({ ...state, held: push(held, event) }, event.data.index);
  }
  return [{ ...state, ready: push(state.ready, event) }, []];
}

function enqueueClear(state: LiveState, event: Extract<FeedEvent, { type: 'clear' }>): Step {
  // The last snapshot was read after the clear.
  if (state.snapshotNewest >= event.below) return [state, []];
  // Requests after the clear were already sent, because another node stored them. A `clear` would remove them too.
  if (state.newest >= event.below) return overflow(state, 0);
  return [{ ...state, newest: event.below - 1, ready: push(state.ready, event) }, []];
}

function read(state: LiveState, upTo: number): Step {
  return beginRead(state, (readId) => ({ type: 'read', readId, after: state.newest, upTo }));
}

function beginRead(state: LiveState, effectOf: (readId: number) => Effect): Step {
  const readId = state.lastRead + 1;
  return [{ ...state, reading: readId, lastRead: readId }, [effectOf(readId)]];
}

type ReadResult = Extract<Input, { type: 'found' | 'looked-up' | 'read-failed' }>;

/** The read that `held` waits for has ended. What was looked up comes before the events that arrived meanwhile. */
function readEnded(state: LiveState, input: ReadResult, context: LiveContext): Step {
  if (input.type === 'read-failed') return overflow(state, input.reason === 'error' ? RETRY_MS : NEW_INIT_MS);
  const bytes = input.events.reduce((sum, event) => sum + bytesOf(event), 0);
  if (isOverrun(state, bytes, context)) return overflow(state, NEW_INIT_MS);
  const after: LiveState =
    input.type === 'looked-up'
      ? { ...state, reading: undefined, held: input.events.reduceRight(unshift, state.held) }
      : {
          ...state,
          reading: undefined,
          newest: Math.max(state.newest, input.upTo),
          ready: input.events.reduce(push, state.ready),
        };
  return flushAfter(enqueueHeld(after), context);
}

/** Enqueues held events until one of them needs a read. */
function enqueueHeld(from: LiveState): Step {
  let state = from;
  const effects: Effect[] = [];
  while (takesEvents(state) && state.reading === undefined) {
    const next = shift(state.held);
    if (next === undefined) break;
    const [after, more] = enqueue({ ...state, held: EMPTY_QUEUE }, next.item);
    // `enqueue` may have put the event back, before the rest.
    state = after.held.size === 0 ? { ...after, held: next.rest } : { ...after, held: state.held };
    effects.push(...more);
    // `enqueue` may have dropped all events.
    if (!takesEvents(state) || state.meanwhile !== 'nothing') return [{ ...state, ...NO_EVENTS }, effects];
  }
  return [state, effects];
}

function beginInit(state: LiveState, input: Extract<Input, { type: 'snapshot' }>, context: LiveContext): Step {
  if (state.phase !== 'loading') return [state, []];
  if (state.meanwhile === 'stale') return load(state);
  const sending: LiveState = { ...state, phase: 'sending', initBytes: input.bytes, partBytes: input.partBytes };
  if (heldBytes(sending, context.pendingBytes) > context.maxBytes)
    return fallBehind({ ...state, neededBytes: input.bytes + input.partBytes }, NEW_INIT_MS);
  const newest = Math.max(state.newest, input.newest);
  const [next, effects] = enqueueHeld({ ...sending, neededBytes: 0, newest, snapshotNewest: input.newest });
  return [next, [{ type: 'send-part' }, ...effects]];
}

function partSent(state: LiveState, isLast: boolean, context: LiveContext): Step {
  if (state.phase !== 'sending') return [state, []];
  if (!isLast) return [{ ...state, isTimed: true }, [{ type: 'timer', ms: 0 }]];
  return state.meanwhile === 'nothing'
    ? flushSoon({ ...state, phase: 'live' }, context)
    : fallBehind(state, NEW_INIT_MS);
}

/** Drops all events. A new `init` follows: now, or after the current one. */
function overflow(state: LiveState, waitMs: number): Step {
  if (state.phase === 'live') return fallBehind(state, waitMs);
  const meanwhile = state.meanwhile === 'nothing' ? 'overflowed' : state.meanwhile;
  return [{ ...state, ...NO_EVENTS, meanwhile }, []];
}

function noteGap(state: LiveState): Step {
  // A snapshot in progress may be older than what was lost.
  if (state.phase === 'loading') return [{ ...state, ...NO_EVENTS, meanwhile: 'stale' }, []];
  return takesEvents(state) ? overflow(state, 0) : [state, []];
}

function fallBehind(state: LiveState, waitMs: number): Step {
  const behind: LiveState = { ...state, ...NO_EVENTS, phase: 'behind', initBytes: 0, partBytes: 0, isTimed: true };
  return [behind, [{ type: 'timer', ms: waitMs }]];
}

function timerEnded(state: LiveState, context: LiveContext): Step {
  const { phase, neededBytes } = state;
  if (phase === 'sending') {
    // One part per turn of the event loop, after the previous part was accepted.
    if (context.pendingBytes > 0) return [{ ...state, isTimed: true }, [{ type: 'timer', ms: FLUSH_MS }]];
    return [state, [{ type: 'send-part' }]];
  }
  if (phase === 'behind') {
    if (context.pendingBytes > 0 || neededBytes > context.maxBytes) return fallBehind(state, NEW_INIT_MS);
    return load({ ...state, initBytes: neededBytes });
  }
  return phase === 'live' ? flush(state, context) : [state, []];
}

function flushAfter([state, effects]: Step, context: LiveContext): Step {
  const [after, more] = state.ready.size > 0 ? flushSoon(state, context) : ([state, []] as const);
  return [after, [...effects, ...more]];
}

function flushSoon(state: LiveState, { now }: LiveContext): Step {
  if (state.phase !== 'live' || state.isTimed) return [state, []];
  return [{ ...state, isTimed: true }, [{ type: 'timer', ms: Math.max(0, state.flushedAt + FLUSH_MS - now) }]];
}

function flush(state: LiveState, context: LiveContext): Step {
  const { maxBytes, now } = context;
  const frames: string[] = [];
  const reports: Effect[] = [];
  let { ready, endpoint } = state;
  let pending = context.pendingBytes;
  const fits = (bytes: number): boolean =>
    pending <= MAX_PENDING_BYTES && heldBytes({ ...state, ready }, pending) + FRAME_GROWTH * bytes <= maxBytes;
  // Events that can't be presented are omitted and logged, so that one bad event never ends the feed.
  const send = (event: FeedEvent | EndpointMessage): void => {
    try {
      const frame = frameOf(event);
      frames.push(frame);
      pending += frame.length;
    } catch (error) {
      reports.push({ type: 'report', error });
    }
  };
  // Sent before the requests, so that its counters never lag behind the list.
  if (endpoint !== undefined && fits(0)) {
    send(endpoint);
    endpoint = undefined;
  }
  for (let count = 0; count < FRAMES_PER_FLUSH; count += 1) {
    const next = shift(ready);
    if (next === undefined || !fits(bytesOf(next.item))) break;
    ready = next.rest;
    send(next.item);
  }
  const sent: Effect[] = frames.length > 0 ? [{ type: 'send', frames }] : [];
  const after: LiveState = { ...state, ready, endpoint, flushedAt: now };
  const [next, effects] = ready.size > 0 || endpoint !== undefined ? flushSoon(after, context) : [after, []];
  return [next, [...sent, ...reports, ...effects]];
}
