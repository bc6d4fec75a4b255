import { unsavedId } from '@creel/contract';
import { describe, expect, test } from 'vitest';
import { sampleEndpoint } from '../../../../../fixtures/sample-endpoint.ts';
import { record, stored, wordOfFrame } from '../../../test/fake-viewer.ts';
import { presentRefusal } from '../deliveries/present-delivery.ts';
import { presentPreview } from '../requests/service.ts';
import type { ContentEvent, FeedEvent, UnresolvedEvent } from './live-events.ts';
import { reduce } from './live-reducer.ts';
import { NEW_LIVE_STATE, heldBytes } from './live-state.ts';
import type { Effect, Input, LiveState } from './live-state.ts';

/** Decisions of a live connection as values: no socket, no clock, no storage. */
const MIB = 1024 * 1024;
const CONTEXT = { now: 0, pendingBytes: 0, maxBytes: 64 * MIB };

/** Applies inputs in turn, and returns the last state and all effects. */
function run(from: LiveState, inputs: readonly Input[], context = CONTEXT): { state: LiveState; effects: Effect[] } {
  let state = from;
  const effects: Effect[] = [];
  for (const input of inputs) {
    const [next, more] = reduce(state, input, context);
    state = next;
    effects.push(...more);
  }
  return { state, effects };
}

const took = (event: FeedEvent | UnresolvedEvent): Input => ({ type: 'event', event });
const upTo = (index: number): Input => took({ type: 'stored', upTo: index });
const snapshot = (newest: number): Input => ({ type: 'snapshot', newest, bytes: 0, partBytes: 10 });
const sentInit: Input = { type: 'part-sent', bytes: 0, partBytes: 0, isLast: true };
const timer: Input = { type: 'timer' };
const savedEvent = (index: number): ContentEvent => ({
  type: 'saved',
  data: { oldId: unsavedId(index), request: presentPreview({ ...record(index), savedId: 7 }) },
});
const found = (readId: number, last: number, ...indexes: number[]): Input => ({
  type: 'found',
  readId,
  upTo: last,
  events: indexes.map((index) => stored(index)),
});

/** A connection that has sent `init` with requests up to `newest`, and waits. */
function live(newest: number): LiveState {
  return run(NEW_LIVE_STATE, [{ type: 'start' }, snapshot(newest), sentInit, timer]).state;
}

/** Messages in words, as fake-viewer.ts has them. */
function framesIn(effects: readonly Effect[]): string[] {
  return effects.flatMap((effect) => (effect.type === 'send' ? effect.frames.map(wordOfFrame) : []));
}

/** What a connection sends for these inputs and its next flush. */
function sends(from: LiveState, inputs: readonly Input[]): string[] {
  return framesIn(run(from, [...inputs, timer]).effects);
}

const typesOf = (effects: readonly Effect[]): string[] => effects.map((effect) => effect.type);

test('it loads a snapshot, sends it, and then what arrived meanwhile, without what the snapshot has', () => {
  const { state, effects } = run(NEW_LIVE_STATE, [{ type: 'start' }, took(stored(4)), took(stored(5)), snapshot(4)]);
  expect(typesOf(effects)).toEqual(['load', 'send-part']);
  expect(sends(state, [sentInit])).toEqual(['5']);
});

test('the same state and input give the same result: nothing is changed in place', () => {
  const state = live(0);
  const once = run(state, [took(stored(1)), timer]);
  const again = run(state, [took(stored(1)), timer]);
  expect(again).toEqual(once);
  expect(state).toEqual(live(0));
});

test('saved, deleted and clear are sent in order', () => {
  const events = [took(stored(1)), took(savedEvent(1)), took({ type: 'deleted', data: { id: 7 } })];
  expect(sends(live(0), [...events, took({ type: 'clear', below: 2 }), took(stored(2))])).toEqual([
    '1',
    'saved 1',
    'deleted 7',
    'clear',
    '2',
  ]);
});

describe('captures of another node', () => {
  test('"up to N" reads the requests above the last one, and sends them in order', () => {
    const { state, effects } = run(live(4), [upTo(7)]);
    expect(effects).toEqual([{ type: 'read', readId: 1, after: 4, upTo: 7 }]);
    expect(sends(state, [found(1, 7, 5, 6, 7)])).toEqual(['5', '6', '7']);
  });

  test('late, repeated and reordered notices have no effect', () => {
    const { state } = run(live(4), [upTo(7), found(1, 7, 5, 6, 7)]);
    expect(run(state, [upTo(7), upTo(5), took(stored(6))]).effects).toEqual([]);
  });

  test('a capture of this node that skips indexes waits for those of the other node', () => {
    const { state, effects } = run(live(4), [took(stored(7)), took(stored(8))]);
    expect(effects).toEqual([{ type: 'read', readId: 1, after: 4, upTo: 6 }]);
    expect(sends(state, [found(1, 6, 5, 6)])).toEqual(['5', '6', '7', '8']);
  });

  test('notices during a read are followed by one more read', () => {
    const { state, effects } = run(live(0), [upTo(1), upTo(2), upTo(3), found(1, 1, 1)]);
    expect(effects.filter((effect) => effect.type === 'read')).toEqual([
      { type: 'read', readId: 1, after: 0, upTo: 1 },
      { type: 'read', readId: 2, after: 1, upTo: 2 },
    ]);
    expect(sends(state, [found(2, 2, 2), found(3, 3, 3)])).toEqual(['1', '2', '3']);
  });

  test('a request that was deleted meanwhile does not delay others', () => {
    const { state } = run(live(0), [upTo(3), took({ type: 'deleted', data: { id: unsavedId(2) } })]);
    expect(sends(state, [found(1, 3, 1, 3), took(stored(4))])).toEqual(['1', '3', `deleted ${unsavedId(2)}`, '4']);
  });

  test('a request that was saved before it was sent is read in its saved form', () => {
    const { effects } = run(live(0), [took(savedEvent(2))]);
    expect(effects).toEqual([{ type: 'read', readId: 1, after: 0, upTo: 2 }]);
  });

  test('a lookup holds later events back; without a result they follow', () => {
    const find = () => Promise.resolve([]);
    const { state, effects } = run(live(1), [
      took({ type: 'lookup', find }),
      took({ type: 'deleted', data: { id: 7 } }),
    ]);
    expect(effects).toEqual([{ type: 'lookup', readId: 1, find }]);
    const events = [savedEvent(1), savedEvent(0)];
    expect(sends(state, [{ type: 'looked-up', readId: 1, events }])).toEqual(['saved 1', 'saved 0', 'deleted 7']);
    expect(sends(state, [{ type: 'looked-up', readId: 1, events: [] }])).toEqual(['deleted 7']);
  });

  test('a clear that arrives after requests from after it: a new init, because `clear` would remove those', () => {
    const { effects } = run(live(4), [took(stored(5)), took({ type: 'clear', below: 5 }), timer, timer]);
    expect(typesOf(effects)).toContain('load');
    expect(framesIn(effects)).not.toContain('clear');
  });

  test('a clear from before the snapshot is dropped', () => {
    expect(sends(live(5), [took({ type: 'clear', below: 5 }), took(stored(6))])).toEqual(['6']);
  });

  test('a failed read, or too many requests: a new init', () => {
    for (const reason of ['error', 'too-many'] as const) {
      const { state } = run(live(0), [upTo(9), { type: 'read-failed', readId: 1, reason }]);
      expect(typesOf(run(state, [timer]).effects)).toEqual(['load']);
    }
  });

  test('the result of a read from before an overflow is ignored', () => {
    const { state } = run(live(0), [upTo(3), { type: 'gap' }, timer, snapshot(5), sentInit, timer]);
    expect(sends(state, [found(1, 3, 1, 2, 3), took(stored(6))])).toEqual(['6']);
  });
});

test('a delivery of a request that was not sent yet follows it', () => {
  const latest = { kind: 'forward', status: null, error: 'why', at: new Date(0).toISOString() } as const;
  const data = presentRefusal({ index: 2, latest });
  const { state, effects } = run(live(0), [took({ type: 'delivery', data })]);
  expect(effects).toEqual([{ type: 'read', readId: 1, after: 0, upTo: 2 }]);
  expect(sends(state, [found(1, 2, 1, 2)])).toEqual(['1', '2', 'delivery 2']);
});

describe('a gap in the notices', () => {
  test('while live: a new init at once', () => {
    const { effects } = run(live(3), [took(stored(4)), { type: 'gap' }, timer]);
    expect(typesOf(effects)).toEqual(['timer', 'timer', 'load']);
  });

  test('during a snapshot: it is read again', () => {
    const { effects } = run(NEW_LIVE_STATE, [{ type: 'start' }, { type: 'gap' }, snapshot(1)]);
    expect(typesOf(effects)).toEqual(['load', 'load']);
  });

  test('while an init is sent: it is completed, and another one follows', () => {
    const { state, effects } = run(NEW_LIVE_STATE, [{ type: 'start' }, snapshot(1), { type: 'gap' }, sentInit]);
    expect(typesOf(effects)).toEqual(['load', 'send-part', 'timer']);
    expect(typesOf(run(state, [timer]).effects)).toEqual(['load']);
  });
});

describe('bounds', () => {
  test('over 1,000 waiting events are dropped, and a new init follows', () => {
    const many = Array.from({ length: 1001 }, (_, at) => took(stored(at)));
    const { state } = run(live(-1), many);
    expect([state.phase, heldBytes(state, 0)]).toEqual(['behind', 0]);
    expect(typesOf(run(state, [timer]).effects)).toEqual(['load']);
  });

  test('events that wait for a read count too', () => {
    const many = Array.from({ length: 1001 }, (_, at) => took(stored(at + 2)));
    expect(run(live(0), many).state.phase).toBe('behind');
  });

  test('waiting events take no more memory than is available', () => {
    const { state } = run(live(-1), [took(stored(0, 'x'.repeat(1000)))], { ...CONTEXT, maxBytes: 500 });
    expect(state.phase).toBe('behind');
  });

  test('an init without room waits, and is read again when there is', () => {
    const [little, none] = [
      { ...CONTEXT, maxBytes: 5 },
      { ...CONTEXT, pendingBytes: 1 },
    ];
    const { state, effects } = run(NEW_LIVE_STATE, [{ type: 'start' }, snapshot(1)], little);
    expect(typesOf(effects)).toEqual(['load', 'timer']);
    expect(typesOf(run(state, [timer], little).effects)).toEqual(['timer']);
    expect(typesOf(run(state, [timer], none).effects)).toEqual(['timer']);
    expect(typesOf(run(state, [timer]).effects)).toEqual(['load']);
  });

  test('nothing is sent while a megabyte is pending', () => {
    const { effects } = run(live(-1), [took(stored(0)), timer], { ...CONTEXT, pendingBytes: 2 * MIB });
    expect(framesIn(effects)).toEqual([]);
  });
});

test('the endpoint message is sent before requests, and only the latest one', () => {
  const message = (requestCount: number): Input => ({
    type: 'endpoint',
    message: { type: 'endpoint', data: sampleEndpoint({ requestCount }) },
  });
  expect(sends(live(0), [took(stored(1)), message(1), message(2)])).toEqual(['endpoint 2', '1']);
});

test('after the stop nothing happens and nothing is held', () => {
  const { state } = run(live(0), [took(stored(1)), { type: 'stop' }]);
  expect(heldBytes(state, 0)).toBe(0);
  expect(run(state, [timer, took(stored(2)), { type: 'gap' }, { type: 'start' }]).effects).toEqual([]);
});
