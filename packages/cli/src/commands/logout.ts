import { ApiError } from '@creel/contract';
import type { InvocationOf } from '../args.ts';
import { CliProblem } from '../cli-problem.ts';
import { signedInConnection } from '../connection.ts';
import { deleteSession } from '../session-file.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Ends the session on the server and forgets it here; forgets it also when the server can't be told, and says so. */
export async function logout(invocation: InvocationOf<'logout'>, terminal: Terminal): Promise<void> {
  const { client, server } = await signedInConnection(invocation.server, terminal);
  try {
    await client.call('logout', {});
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new CliProblem(`The session is forgotten here, but could not be ended: ${error.sentence || error.message}`);
  } finally {
    await deleteSession(terminal.env);
  }
  await write(terminal.stdout, `Signed out at ${server}.\n`);
}
