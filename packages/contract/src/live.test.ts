import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { listenLive } from './live.ts';
import type { LiveOptions, LiveSocket } from './live.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Handler = ((event: { data: unknown; code: number }) => void) | null;

const INIT = { type: 'init', data: [] };

/** A socket that the test controls. */
class FakeSocket implements LiveSocket {
  onopen: Handler = null;
  onmessage: Handler = null;
  onerror: Handler = null;
  onclose: Handler = null;
  closeCalls = 0;
  close(): void {
    this.closeCalls += 1;
  }
  private fire(handler: Handler, data: unknown, code: number): void {
    handler?.({ data, code });
  }
  /** The handshake, and the server's first message. */
  opens(): void {
    this.handshakes();
    this.brings(INIT);
  }
  handshakes(): void {
    this.fire(this.onopen, undefined, 0);
  }
  brings(frame: unknown): void {
    this.fire(this.onmessage, typeof frame === 'string' ? frame : JSON.stringify(frame), 0);
  }
  fails(): void {
    this.fire(this.onerror, undefined, 0);
  }
  closes(code: number): void {
    this.fire(this.onclose, undefined, code);
  }
}

function listen(options: Partial<LiveOptions> = {}) {
  const sockets: FakeSocket[] = [];
  const log: string[] = [];
  const bad: string[] = [];
  const openSocket = (url: string): LiveSocket => {
    const socket = new FakeSocket();
    sockets.push(socket);
    log.push(`open ${url}`);
    return socket;
  };
  const stop = listenLive({
    url: 'ws://h/ws?endpoint=u',
    openSocket,
    onMessage: (message) => log.push(message.type),
    onState: (state, code) => log.push(code === undefined ? state : `${state} ${code}`),
    onInvalidMessage: (reason) => bad.push(reason),
    ...options,
  });
  const socket = (at = -1): FakeSocket => {
    const found = sockets.at(at);
    if (found === undefined) throw new Error('No socket was opened');
    return found;
  };
  return { stop, socket, sockets, log, bad, taken: () => log.splice(0) };
}

const CLEAR = { type: 'clear', data: {} };
const OPENING = ['connecting', 'open ws://h/ws?endpoint=u'];

test('it is connected after the first message and passes all messages on', () => {
  const { socket, log } = listen();
  expect(log).toEqual(OPENING);
  socket().brings(INIT);
  socket().brings(CLEAR);
  expect(log).toEqual([...OPENING, 'connected', 'init', 'clear']);
});

describe('reconnecting', () => {
  test('after a handshake that is not answered for 15 s, also when its end is reported later', () => {
    const { socket, taken, sockets } = listen();
    taken();
    vi.advanceTimersByTime(14_999);
    expect(taken()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(taken()).toEqual(['disconnected']);
    expect(socket().closeCalls).toBe(1);
    socket().closes(1006);
    socket().handshakes();
    vi.advanceTimersByTime(3000);
    expect(taken()).toEqual(OPENING);
    expect(sockets).toHaveLength(2);
  });

  test('not after a handshake, however long the first message takes', () => {
    const { socket, taken } = listen();
    socket().handshakes();
    taken();
    vi.advanceTimersByTime(60_000);
    expect(taken()).toEqual([]);
  });

  test.each([1000, 1001, 1006, 1008, 1011, 1013])('3 s after a close with %d, and not before', (code) => {
    const { socket, taken, sockets } = listen();
    socket().opens();
    taken();
    socket().closes(code);
    expect(taken()).toEqual([`disconnected ${code}`]);
    vi.advanceTimersByTime(2999);
    expect(sockets).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(taken()).toEqual(OPENING);
    socket().opens();
    expect(taken()).toEqual(['connected', 'init']);
  });

  test('repeatedly while the server is unreachable', () => {
    const { socket, sockets } = listen();
    for (let round = 1; round <= 20; round += 1) {
      expect(sockets).toHaveLength(round);
      socket().fails();
      socket().closes(1006);
      vi.advanceTimersByTime(3000);
    }
  });

  test('an error closes the socket, and only the close event starts the wait', () => {
    const { socket, taken, sockets } = listen();
    taken();
    socket().fails();
    expect(socket().closeCalls).toBe(1);
    vi.advanceTimersByTime(10_000);
    expect([taken(), sockets.length]).toEqual([[], 1]);
    socket().closes(1006);
    expect(taken()).toEqual(['disconnected 1006']);
  });

  test('after a different delay, if one is given', () => {
    const { socket, sockets } = listen({ reconnectMs: 50 });
    socket().closes(1006);
    vi.advanceTimersByTime(50);
    expect(sockets).toHaveLength(2);
  });

  test.each([
    [4401, 'signed out'],
    [4404, 'endpoint gone'],
  ])('never after %d (%s): it would not help', (code) => {
    const { socket, taken, sockets } = listen();
    socket().opens();
    taken();
    socket().closes(code);
    vi.advanceTimersByTime(60_000);
    expect([taken(), sockets.length]).toEqual([[`ended ${code}`], 1]);
  });
});

describe('a message that does not match the schema', () => {
  test.each<[string, unknown]>([
    ['no JSON', 'hello'],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', []],
    ['no type', { data: {} }],
    ['a type that is no text', { type: 7, data: {} }],
    ['data that does not fit', { type: 'deleted', data: { id: 'one' } }],
    ['no data', { type: 'request' }],
  ])('%s: dropped and told, and the next one comes', (_what, frame) => {
    const { socket, taken, bad } = listen();
    socket().opens();
    taken();
    socket().brings(frame);
    socket().brings(CLEAR);
    expect(taken()).toEqual(['clear']);
    expect(bad).toHaveLength(1);
  });

  test('a message of an unknown type is ignored', () => {
    const { socket, taken, bad } = listen();
    socket().opens();
    taken();
    socket().brings({ type: 'tomorrow', data: 1 });
    expect([taken(), bad]).toEqual([[], []]);
  });

  test('a callback that throws does not end the stream', () => {
    const told: string[] = [];
    const onMessage: LiveOptions['onMessage'] = (message) => {
      if (message.type === 'clear') throw new Error('broken receiver');
      told.push(message.type);
    };
    const { socket, bad } = listen({ onMessage });
    socket().brings(CLEAR);
    socket().brings({ type: 'deleted', data: { id: 1 } });
    expect(told).toEqual(['deleted']);
    expect(bad).toEqual(['Error: broken receiver']);
  });
});

describe('after stopping', () => {
  test('the socket is closed and its last messages are ignored', () => {
    const { socket, stop, taken } = listen();
    taken();
    stop();
    expect(socket().closeCalls).toBe(1);
    socket().opens();
    socket().brings(CLEAR);
    socket().fails();
    socket().closes(1006);
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(taken()).toEqual([]);
  });

  test('a planned reconnect does not happen', () => {
    const { socket, stop, sockets } = listen();
    socket().closes(1006);
    stop();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(sockets).toHaveLength(1);
  });

  test('an outage ends the connection before its socket notices, once, until the next outage', () => {
    let report: () => void = () => undefined;
    const stopWatching = vi.fn<() => void>();
    const { socket, stop, taken } = listen({
      watchOutage: (onOutage) => {
        report = onOutage;
        return stopWatching;
      },
    });
    socket().opens();
    taken();
    report();
    expect(taken()).toEqual(['disconnected']);
    expect(socket().closeCalls).toBe(1);
    report();
    socket().brings(CLEAR);
    socket().closes(1006);
    expect(taken()).toEqual([]);
    vi.advanceTimersByTime(3000);
    expect(taken()).toEqual(OPENING);
    socket().opens();
    expect(taken()).toEqual(['connected', 'init']);
    report();
    expect(taken()).toEqual(['disconnected']);
    stop();
    expect(stopWatching).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a stop from the callback prevents the reconnect', () => {
    const opened: FakeSocket[] = [];
    const stop: () => void = listenLive({
      url: 'ws://h',
      openSocket: () => {
        const socket = new FakeSocket();
        opened.push(socket);
        return socket;
      },
      onMessage: () => undefined,
      onState: (state) => {
        if (state === 'disconnected') stop();
      },
    });
    opened[0]?.closes(1006);
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(opened).toHaveLength(1);
  });
});
