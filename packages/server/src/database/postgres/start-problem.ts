import { StorageProblem, StorageUnavailable } from '../storage-problem.ts';
import { codeOf } from './faults.ts';

/** What the operator can do, by Node's error code or PostgreSQL's SQLSTATE. */
const SENTENCES: Readonly<Record<string, (where: string) => string>> = {
  ECONNREFUSED: (where) => `PostgreSQL at ${where} refuses connections. Start it, or correct DATABASE_URL.`,
  ENOTFOUND: (where) => `The host of DATABASE_URL (${where}) is not known. Correct DATABASE_URL.`,
  EAI_AGAIN: (where) =>
    `The host of DATABASE_URL (${where}) can't be looked up. Check the network, or correct DATABASE_URL.`,
  '28P01': (where) => `PostgreSQL at ${where} refuses the user or the password. Correct DATABASE_URL.`,
  '28000': (where) =>
    `PostgreSQL at ${where} does not let this user in. Correct DATABASE_URL, or the server's pg_hba.conf.`,
  '3D000': (where) => `PostgreSQL at ${where} has no such database. Create it, or correct DATABASE_URL.`,
  '53300': (where) =>
    `PostgreSQL at ${where} has no connection left. Raise its max_connections, or stop other programs.`,
  '57P03': (where) => `PostgreSQL at ${where} is starting or stopping. Try again in a moment.`,
  '42501': (where) =>
    `The user of DATABASE_URL may not create tables at ${where}. Grant it CREATE on the schema, or make it the database's owner.`,
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
  const sentence = SENTENCES[codeOf(error) ?? ''];
  if (sentence !== undefined) return new StorageProblem(sentence(placeOf(url)), { cause: error });
  const reason = error instanceof Error ? error.message : String(error);
  return new StorageProblem(`PostgreSQL at ${placeOf(url)} can't be used (${reason}).`, { cause: error });
}

function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
