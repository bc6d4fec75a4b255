import { z } from 'zod';
import { defineCommand } from '../command.ts';
import { followEndpoint } from '../follow-endpoint.ts';
import { endpointArgument, fromOption, jsonOption, queryOption, serverOption } from '../options.ts';
import { captureLine, jsonLine } from '../output.ts';
import { write } from '../terminal.ts';

export const command = defineCommand({
  name: 'follow',
  summary: 'print each capture as it arrives, until Ctrl-C',
  details: `After a lost connection it reconnects and first prints what arrived in the meantime, in order and each capture once.
It exits with code 1 when the endpoint is deleted or expires, or when the session ends.`,
  arguments: z.object({ endpoint: endpointArgument }),
  options: z.object({ from: fromOption, query: queryOption, json: jsonOption, server: serverOption }),
  async run(input, terminal) {
    const line = input.json ? jsonLine : captureLine;
    const from = input.from === undefined ? undefined : [input.from];
    await followEndpoint({ ...input, from }, terminal, ({ endpoint }) => ({
      begins: `Following ${endpoint.url}`,
      deleted: 'Deleted before it could be shown',
      followers: [(request) => write(terminal.stdout, line(request))],
    }));
  },
});
