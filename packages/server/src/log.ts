import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import pretty from 'pino-pretty';

export type { Logger } from 'pino';

/** JSON lines on standard output, or where told; readable when it is a terminal (contract 8). Never told a header, a body or a cookie. */
export function createLog(level: string, terminal: boolean, destination?: DestinationStream): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (destination !== undefined) return pino(options, destination);
  return terminal
    ? pino(options, pretty({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', sync: true }))
    : pino(options);
}
