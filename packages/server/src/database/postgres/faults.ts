import { codeOf, messageOf } from '../../error-code.ts';
import { StorageUnavailable, StorageProblem } from '../store.ts';

/** The connection broke, or the server ended it, also because of one of its timeouts (PostgreSQL's appendix A, Node's codes). */
const CONNECTION_LOST = /^(?:57P0[125]|25P0[34]|0800[36]|ECONNRESET|EPIPE)$/;
/** The server, not the statement: it refuses connections or access, is out of resources, or is read-only (the same sources). */
const UNAVAILABLE =
  /^(?:08...|28...|3D000|42501|55000|57014|57P0[123]|53...|55P03|25006|58...|ECONNREFUSED|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT|CERT_\w+|ERR_TLS_\w+)$/;
/** A certificate of an unknown authority. OpenSSL's codes, as Node names them. */
const UNKNOWN_ISSUER =
  /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(?:_LOCALLY)?))$/;
/**
 * Another transaction made the server undo the statement, which succeeds when repeated. It was a deadlock, a conflict
 * of serialization, or a prepared statement whose result changed with its table. A node that migrates causes them.
 */
const CONFLICT = /^(?:40P01|40001|0A000)$/;
/** PostgreSQL answers that it can't write: no room, an I/O error, no right, or read-only. */
const REFUSED = /^(?:25006|42501|53...|58...)$/;
/** These errors of the driver have a message and no code. */
const DRIVER_LOST = /^Connection terminated|^Client has encountered a connection error/;
const DRIVER_NO_PASSWORD = /client password must be/;
const DRIVER_TIMEOUT = /timeout exceeded when trying to connect|timeout expired|connection timeout|Query read timeout/;

/** Classifies an error of the driver by its cause: connection, server, another transaction, or the query itself. */
export function faultOf(error: unknown): 'connection' | 'server' | 'conflict' | 'query' {
  const code = codeOf(error);
  const message = code === undefined && error instanceof Error ? error.message : '';
  if (DRIVER_TIMEOUT.test(message)) return 'server';
  if (CONNECTION_LOST.test(code ?? '') || DRIVER_LOST.test(message)) return 'connection';
  if (CONFLICT.test(code ?? '')) return 'conflict';
  return UNAVAILABLE.test(code ?? '') || UNKNOWN_ISSUER.test(code ?? '') ? 'server' : 'query';
}

/** Whether PostgreSQL refuses to write, so that another attempt would fail too. */
export function isRefusal(error: unknown): boolean {
  return REFUSED.test(codeOf(error) ?? '');
}

/** Converts failures of the database, but not of the query, into StorageUnavailable. */
export async function withStorageErrors<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw faultOf(error) === 'query' ? error : new StorageUnavailable(String(error), { cause: error });
  }
}

/** What the operator can do, by Node's error code or PostgreSQL's SQLSTATE. */
const SENTENCES: Readonly<Record<string, (where: string, reason: string) => string>> = {
  ECONNREFUSED: (where) => `PostgreSQL at ${where} refuses connections. Start it, or correct DATABASE_URL.`,
  ENOTFOUND: (where) => `The host of DATABASE_URL (${where}) is not known. Correct DATABASE_URL.`,
  ETIMEDOUT: (where) =>
    `PostgreSQL at ${where} does not answer in time. Correct DATABASE_URL, or check the network. A connection pooler needs at least 16 sessions per node.`,
  EAI_AGAIN: (where) =>
    `The host of DATABASE_URL (${where}) can't be looked up. Check the network, or correct DATABASE_URL.`,
  UNKNOWN_ISSUER: (where) =>
    `PostgreSQL at ${where} has a certificate of an unknown authority. Add sslrootcert=FILE with the authority's certificate to DATABASE_URL.`,
  ERR_TLS_CERT_ALTNAME_INVALID: (where) =>
    `PostgreSQL at ${where} has a certificate for another host name. Write that name in DATABASE_URL.`,
  '28P01': (where) => `PostgreSQL at ${where} refuses the user or the password. Correct DATABASE_URL.`,
  '28000': (where, reason) =>
    `PostgreSQL at ${where} does not let this user in (${reason}). Correct DATABASE_URL, or the server's pg_hba.conf.`,
  '3D000': (where) => `PostgreSQL at ${where} has no such database. Create it, or correct DATABASE_URL.`,
  CONNECTION_LOST: (where, reason) =>
    `PostgreSQL at ${where} ended the connection (${reason}). Try again. The log of PostgreSQL may have the cause.`,
  '53100': (where) => `The disk of PostgreSQL at ${where} is full. Make room on it, and try again.`,
  '53300': (where) =>
    `PostgreSQL at ${where} has no connection left. Raise its max_connections, or stop other programs.`,
  '57P03': (where) => `PostgreSQL at ${where} is starting or stopping. Try again in a moment.`,
  '42501': (where) =>
    `The user of DATABASE_URL may not create tables at ${where}. Grant it CREATE on the schema, or make it the database's owner.`,
  '3F000': (where) =>
    `The search_path of the user of DATABASE_URL at ${where} has no schema. Set it to a schema in which the user may create tables.`,
  '42P01': (where) =>
    `The database at ${where} has no tables of Creel. Correct DATABASE_URL, or start the server once.`,
  '42P07': (where) =>
    `The database at ${where} already holds tables of another program. Give Creel a database of its own.`,
  '25006': (where) => `The database at ${where} is read-only. Set DATABASE_URL to one that can be written.`,
  '55P03': (where) =>
    `The tables at ${where} are in use and could not be brought up to date. Try again, or end what holds them.`,
};

/** Converts an error at the start into a sentence that never contains the password. */
export function startProblem(thrown: unknown, url: string): StorageProblem {
  const error = thrown instanceof StorageUnavailable ? (thrown.cause ?? thrown) : thrown;
  if (error instanceof StorageProblem) return error;
  const reason = messageOf(error);
  const sentence = SENTENCES[sentenceKey(error, reason)];
  if (sentence !== undefined) return new StorageProblem(sentence(hostAndDatabase(url), reason), { cause: error });
  return new StorageProblem(`PostgreSQL at ${hostAndDatabase(url)} can't be used (${reason}).`, { cause: error });
}

/** The key of `SENTENCES`, if there is a sentence. */
function sentenceKey(error: unknown, reason: string): string {
  const code = codeOf(error) ?? codeOfDriver(reason);
  if (UNKNOWN_ISSUER.test(code)) return 'UNKNOWN_ISSUER';
  return faultOf(error) === 'connection' ? 'CONNECTION_LOST' : code;
}

/** The code of PostgreSQL or Node with the same cause, for a message of the driver that comes without one. */
function codeOfDriver(message: string): string {
  if (DRIVER_NO_PASSWORD.test(message)) return '28P01';
  return DRIVER_TIMEOUT.test(message) ? 'ETIMEDOUT' : '';
}

function hostAndDatabase(url: string): string {
  const { host, pathname, searchParams } = new URL(url);
  // The driver prefers the parameter. Without any host it takes one from the environment.
  return `${(searchParams.get('host') ?? host) || 'the default host'}${pathname}`;
}
