import { ApiError } from '@creel/contract';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command.ts';
import { openSession } from '../connection.ts';
import { serverOption } from '../options.ts';
import { deleteSession } from '../session.ts';
import { write } from '../terminal.ts';

export const command = defineCommand({
  name: 'logout',
  summary: 'end the session and delete it from this machine',
  arguments: z.object({}),
  options: z.object({ server: serverOption }),
  // The stored session is deleted even if the server can't be reached.
  async run(input, terminal) {
    const { client, server } = await openSession(input.server, terminal);
    try {
      await client.call('logout', {});
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new CliError(
        `The session was deleted here, but the server could not end it: ${error.sentence || error.message}`,
      );
    } finally {
      await deleteSession(terminal.env);
    }
    await write(terminal.stdout, `Logged out at ${server}.\n`);
  },
});
