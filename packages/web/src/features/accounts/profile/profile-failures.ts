/** What of a failed call decides the sentence: the status (0: no answer came) and what the server said. */
interface Failure {
  readonly status: number;
  readonly sentence: string;
}

/** The server's text; else by status (spec 8). */
export function usernameFailure({ status, sentence }: Failure): string {
  if (sentence !== '') return sentence;
  if (status === 400) return 'Username already exists or is invalid';
  if (status === 401) return 'You must be logged in to change your username';
  return 'Failed to update username';
}

/** The server's text; else by status (spec 8). */
export function passwordFailure({ status, sentence }: Failure): string {
  if (sentence !== '') return sentence;
  if (status === 400) return 'Current password is incorrect';
  if (status === 401) return 'You must be logged in to change your password';
  return 'Failed to update password';
}
