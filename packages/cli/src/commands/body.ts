import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { CliError, codeOf } from '../cli-error.ts';
import { defineCommand, optionHelp } from '../command.ts';
import { openEndpoint } from '../find-endpoint.ts';
import { endpointArgument, flag, indexArgument, serverOption } from '../options.ts';
import { isPlainText } from '../output.ts';
import { withRequestId } from '../stored-requests.ts';
import { write } from '../terminal.ts';

export const command = defineCommand({
  name: 'body',
  summary: 'write the exact bytes of a body to standard output',
  arguments: z.object({ endpoint: endpointArgument, index: indexArgument }),
  options: z.object({
    output: z
      .string()
      .min(1, 'must name a file.')
      .optional()
      .register(optionHelp, { value: 'FILE', help: 'write to this file instead' }),
    force: flag('write to a terminal even if the body is not plain text'),
    server: serverOption,
  }),
  // Nothing but the bytes is written, because signatures are computed over them.
  async run({ endpoint, index, output, force, server }, terminal) {
    const { client, uid } = await openEndpoint(server, endpoint, terminal);
    const bytes = await withRequestId(client, uid, { index }, (id) =>
      client.call('getRequestBody', { params: { uid, id } }),
    );
    if (output !== undefined) return await writeToFile(output, bytes);
    if (terminal.stdout.isTTY === true && !force && !isPlainText(bytes))
      throw new CliError(
        'The body is not plain text and may control the terminal. Use --output FILE, a pipe or --force.',
      );
    await write(terminal.stdout, bytes);
  },
});

async function writeToFile(path: string, bytes: Uint8Array): Promise<void> {
  await writeFile(path, bytes).catch((error: unknown) => {
    throw new CliError(`${path} can't be written (${codeOf(error)}).`);
  });
}
