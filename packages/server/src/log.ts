import { pino } from 'pino';
import type { Logger } from 'pino';
import pretty from 'pino-pretty';

export type { Logger } from 'pino';

/** JSON lines on standard output; readable when it is a terminal (contract 8). Never told a header, a body or a cookie. */
export function createLog(level: string, terminal: boolean): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return terminal ? pino(options, pretty({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', sync: true })) : pino(options);
}
