import { z } from 'zod';
import { defineCommand, optionHelp } from '../command.ts';
import { openSession } from '../connection.ts';
import { serverOption } from '../options.ts';
import { visible } from '../output.ts';
import { write } from '../terminal.ts';

export const command = defineCommand({
  name: 'create',
  summary: 'create an endpoint and print only its capture URL',
  arguments: z.object({}),
  options: z.object({
    name: z.string().optional().register(optionHelp, { value: 'NAME', help: 'name of the endpoint' }),
    server: serverOption,
  }),
  async run({ name, server }, terminal) {
    const { client } = await openSession(server, terminal);
    const endpoint = await client.call('createEndpoint', { body: name === undefined ? {} : { name } });
    await write(terminal.stdout, `${visible(endpoint.url)}\n`);
  },
});
