import { z } from 'zod';
import { defineCommand } from '../command.ts';
import { openSession } from '../connection.ts';
import { jsonOption, serverOption } from '../options.ts';
import { endpointLines, jsonLine } from '../output.ts';
import { write } from '../terminal.ts';

export const command = defineCommand({
  name: 'endpoints',
  summary: 'list your endpoints: uid, stored requests, expiry, capture URL, name',
  arguments: z.object({}),
  options: z.object({ json: jsonOption, server: serverOption }),
  async run({ json, server }, terminal) {
    const { client, now } = await openSession(server, terminal);
    const endpoints = await client.call('listEndpoints', {});
    await write(terminal.stdout, json ? endpoints.map(jsonLine).join('') : endpointLines(endpoints, now()));
    if (endpoints.length === 0) await write(terminal.stderr, 'You have no endpoints. Create one with: creel create\n');
  },
});
