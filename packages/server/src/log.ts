import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import pretty from 'pino-pretty';

export type { Logger } from 'pino';

/** JSON lines on standard output, or where told; readable when it is a terminal (contract 8). Never told a header, a body or a cookie. */
export function createLog(level: string, terminal: boolean, destination?: DestinationStream): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } };
  if (destination !== undefined) return pino(options, destination);
  return terminal
    ? pino(options, pretty({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', sync: true }))
    : pino(options);
}

/**
 * What is logged of an error: what it is and where it came from. Not its other properties: databases put the rows there that they
 * refused, and HTTP clients what they were sent.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : undefined;
  const cause = error.cause instanceof Error ? describeError(error.cause) : undefined;
  return { type: error.name, message: error.message, code, stack: error.stack, cause };
}
