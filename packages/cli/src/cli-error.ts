import { ApiError } from '@creel/contract';

/** A failure that the user can act on, described in a sentence. The command exits with code 1. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
}

/** A command line that Creel does not understand. The command exits with code 2. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';
}

/** Lines to print for an error, with the server's own sentence if there is one. `undefined` for a defect. */
export function errorLines(error: unknown): string[] | undefined {
  if (error instanceof CliError) return [error.message];
  if (!(error instanceof ApiError)) return undefined;
  const sentence =
    error.sentence || `The server answered ${error.status}, but the response is not from a Creel server.`;
  // With one invalid field, its sentence is also the sentence of the error.
  const fields = Object.values(error.fields).filter((field) => field !== sentence);
  return [sentence, ...fields, ...(error.code === 'NOT_SIGNED_IN' ? ['Log in with: creel login'] : [])];
}

/** The code of a system error, or the error as text. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
