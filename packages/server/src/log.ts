import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';

export type { Logger } from 'pino';

/** JSON lines for a destination; readable text on a terminal. No caller logs a header, a body or a cookie. */
export function createLog(level: string, isTerminal: boolean, destination: DestinationStream): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } };
  if (!isTerminal) return pino(options, destination);
  const readable = prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss.l' });
  return pino(options, { write: (line: string) => destination.write(readable(line)) });
}

/** The log line about lines that its destination lost. */
export function lossReport(count: number): string {
  const msg = `${count} log lines were lost because they could not be written`;
  return `${JSON.stringify({ level: pino.levels.values['warn'], time: new Date().toISOString(), count, msg })}\n`;
}

/**
 * The logged parts of an error: its type, message and stack. Other properties are omitted, because databases put
 * rejected rows there and HTTP clients put requests.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : undefined;
  const cause = error.cause instanceof Error ? describeError(error.cause) : undefined;
  return { type: error.name, message: error.message, code, stack: error.stack, cause };
}
