import { ApiError, isEndOfSession } from '@creel/contract';

/** A failure that the user can act on, described in a sentence. The command exits with code 1. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
}

/** A command line that Creel does not understand. The command exits with code 2. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';
}

/** The session has ended, as the server says on a live connection. */
export class SignedOutError extends CliError {
  constructor() {
    super('The session has ended. Log in with: creel login');
  }
}

/** True if the user has to log in again. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof SignedOutError || isEndOfSession(error);
}

/** True if the same call may succeed later: the server was not reached, is busy, or failed, or a captive portal answered. */
export function isTemporary({ status, code }: ApiError): boolean {
  if (status < 400) return code === undefined;
  return status >= 500 || [408, 425, 429].includes(status);
}

/** True if a captive portal or a proxy has answered instead of the server. */
export function isFromProxy({ status, code }: ApiError): boolean {
  return status !== 0 && code === undefined;
}

/** Lines to print for an error, with the server's own sentence if there is one. `undefined` for a defect. */
export function errorLines(error: unknown): string[] | undefined {
  if (error instanceof CliError) return [error.message];
  if (!(error instanceof ApiError)) return undefined;
  const sentence =
    error.sentence || `The server answered ${error.status}, but the response is not from a Creel server.`;
  // With one invalid field, its sentence is also the sentence of the error.
  const fields = Object.values(error.fields).filter((field) => field !== sentence);
  return [sentence, ...fields, ...(isSignedOut(error) ? ['Log in with: creel login'] : [])];
}

/** The code of a system error, or the error as text. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
