import { errorMonitor } from 'node:events';
import type { Socket } from 'node:net';
import { LoopTurns } from '../../http/loop-turns.ts';

/** Bytes that are parsed at once. In chunks of one byte, they take about a millisecond. */
const SLICE_BYTES = 2048;
/** Milliseconds of parsing before others take turns. Most responses are parsed in one turn. */
const MAX_PARSE_MS = 0.5;

const turns = new LoopTurns();

/**
 * Makes the parser of a connection take turns with others. By default Node reads and parses up to 2 MiB of one socket
 * before the next one, and in chunks of one byte this takes half a second. Call it after the parser listens to the
 * socket. All connections of one `owner` share its turns.
 */
export function parseInTurns(socket: Socket, owner: string): void {
  const listeners = socket.listeners('data');
  const parse = (bytes: Buffer): void => {
    // Node removes its parser after an upgrade and after an invalid response.
    if (!Reflect.get(socket, 'parser')) return;
    for (const listener of listeners) Reflect.apply(listener, socket, [bytes]);
  };
  let waits = false;
  let hasTurn = false;
  const holdBack = (rest: Buffer): void => {
    socket.pause();
    socket.unshift(rest);
    if (waits) return;
    waits = true;
    turns.run(owner, () => {
      waits = false;
      hasTurn = true;
      socket.resume();
    });
  };
  const read = (bytes: Buffer): void => {
    if (!hasTurn) return holdBack(bytes);
    hasTurn = false;
    const began = performance.now();
    let rest = bytes;
    while (rest.length > 0 && !socket.destroyed && performance.now() - began < MAX_PARSE_MS) {
      parse(rest.subarray(0, SLICE_BYTES));
      rest = rest.subarray(SLICE_BYTES);
    }
    if (rest.length > 0 && !socket.destroyed) holdBack(rest);
  };
  socket.removeAllListeners('data').on('data', read);
  // What arrived before the connection broke still counts.
  socket.once(errorMonitor, () => {
    for (let rest = socket.read(); rest instanceof Buffer; rest = socket.read()) parse(rest);
  });
}
