import { ApiError } from '@creel/contract';

/** Something that a person can mend, said in a sentence. Ends the command with code 1. */
export class CliProblem extends Error {
  override readonly name: string = 'CliProblem';
}

/** The command line itself was not understood: code 2. */
export class UsageProblem extends CliProblem {
  override readonly name = 'UsageProblem';
}

/** What to tell the person, a sentence per line; `undefined` for what nobody foresaw. The server's own sentence where it gave one. */
export function sentencesOf(error: unknown): string[] | undefined {
  if (error instanceof CliProblem) return [error.message];
  if (!(error instanceof ApiError)) return undefined;
  const sentence = error.sentence || `The server answered ${error.status}, but not in the way of a Creel server.`;
  // One bad field's sentence is the error's own (contract 1).
  const fields = Object.values(error.fields).filter((one) => one !== sentence);
  return [sentence, ...fields, ...(error.code === 'NOT_SIGNED_IN' ? ['Sign in with: creel login'] : [])];
}
