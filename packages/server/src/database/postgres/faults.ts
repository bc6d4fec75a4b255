import { StorageUnavailable } from '../storage-problem.ts';

/** The server ended the connection or it broke before a response (PostgreSQL's appendix A, Node's error codes). */
const CONNECTION_LOST = /^(?:57P0[12]|0800[36]|ECONNRESET|EPIPE)$/;
/**
 * The server refuses connections, is out of resources, or is read-only; the statement is not at fault (PostgreSQL's
 * appendix A, Node's error codes).
 */
const UNAVAILABLE =
  /^(?:08...|57014|57P0[123]|53...|55P03|25006|58...|ECONNREFUSED|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
/** The driver gives no code to these errors, only a message. */
const DRIVER_LOST = /^Connection terminated/;
const DRIVER_TIMEOUT = /timeout exceeded when trying to connect|timeout expired|connection timeout|Query read timeout/;

/** Classifies an error of the driver: the connection, the server, or the query itself is at fault. */
export function faultOf(error: unknown): 'connection' | 'server' | 'query' {
  const code = codeOf(error);
  const message = code === undefined && error instanceof Error ? error.message : '';
  if (DRIVER_TIMEOUT.test(message)) return 'server';
  if (CONNECTION_LOST.test(code ?? '') || DRIVER_LOST.test(message)) return 'connection';
  return UNAVAILABLE.test(code ?? '') ? 'server' : 'query';
}

/** Converts failures of the database, but not of the query, into StorageUnavailable. */
export async function answered<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw faultOf(error) === 'query' ? error : new StorageUnavailable(String(error), { cause: error });
  }
}

/** Node's error code or PostgreSQL's SQLSTATE. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
