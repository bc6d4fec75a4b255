import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { writeSync } from 'node:fs';

export type { Logger } from 'pino';

/** JSON lines for a destination; readable text on a terminal. No caller logs a header, a body or a cookie. */
export function createLog(level: string, isTerminal: boolean, destination: DestinationStream): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } };
  if (!isTerminal) return pino(options, destination);
  const readable = prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss.l' });
  return pino(options, { write: (line: string) => destination.write(readable(line)) });
}

/** The log line about lines that its destination lost. */
function lossReport(count: number): string {
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

/** Maximum bytes of lines that wait. Further lines are lost. */
const MAX_WAITING_BYTES = 1024 * 1024;
const RETRY_MS = 250;

/** Writes some of the bytes without blocking and returns how many. Throws when it can write none. */
export type WriteSome = (bytes: Uint8Array) => number;

/**
 * The destination of log lines. Lines wait while a disk is full, or a reader is closed or slow. Lines that don't fit are
 * lost and counted. It never blocks, throws, or keeps the process running.
 */
export class LogDestination implements DestinationStream {
  readonly #writeSome: WriteSome;
  /** The first one may be written in part. */
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #lostLines = 0;
  #reportedLines = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(writeSome: WriteSome) {
    this.#writeSome = writeSome;
  }

  get lostLines(): number {
    return this.#lostLines;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) this.#lostLines += 1;
    else this.#push(bytes);
    // Before a retry, an attempt per line would waste system calls.
    if (this.#retry === undefined) this.flush();
  }

  /** Writes as much as possible without blocking. */
  flush(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    try {
      for (let bytes = this.#next(); bytes !== undefined; bytes = this.#next()) {
        const written = this.#writeSome(bytes);
        if (written === 0) throw new Error('Nothing was written.');
        this.#waitingBytes -= written;
        if (written < bytes.length) this.#waiting[0] = bytes.subarray(written);
        else this.#waiting.shift();
      }
    } catch {
      this.#retry = setTimeout(() => this.flush(), RETRY_MS).unref();
    }
  }

  /** The oldest bytes. When no line waits, lost ones are reported. */
  #next(): Buffer | undefined {
    const unreported = this.#lostLines - this.#reportedLines;
    if (this.#waiting.length === 0 && unreported > 0) {
      this.#push(Buffer.from(lossReport(unreported)));
      this.#reportedLines = this.#lostLines;
    }
    return this.#waiting[0];
  }

  #push(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }
}

const STANDARD_OUTPUT = 1;

/**
 * Standard output. Reading `process.stdout` once makes Node switch pipes and sockets to non-blocking mode, so that
 * `writeSync` never waits for a reader.
 */
export function standardOutput(stdout: { readonly isTTY: boolean }): { isTerminal: boolean; writeSome: WriteSome } {
  return { isTerminal: stdout.isTTY, writeSome: (bytes) => writeSync(STANDARD_OUTPUT, bytes) };
}
