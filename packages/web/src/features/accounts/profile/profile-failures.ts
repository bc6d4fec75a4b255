/**
 * The parts of a failed call that decide the message: the status (0 if there was no response) and the server's text.
 */
interface Failure {
  readonly status: number;
  readonly sentence: string;
}

/** The server's message, else one that depends on the status. */
export function usernameFailure({ status, sentence }: Failure): string {
  if (sentence !== '') return sentence;
  if (status === 400) return 'Username already exists or is invalid';
  if (status === 401) return 'You must be logged in to change your username';
  return 'Failed to update username';
}

/** The server's message, else one that depends on the status. */
export function passwordFailure({ status, sentence }: Failure): string {
  if (sentence !== '') return sentence;
  if (status === 400) return 'Current password is incorrect';
  if (status === 401) return 'You must be logged in to change your password';
  return 'Failed to update password';
}
