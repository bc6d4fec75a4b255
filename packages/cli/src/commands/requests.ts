import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '@creel/contract';
import { z } from 'zod';
import { defineCommand, optionHelp } from '../command.ts';
import { openSession } from '../connection.ts';
import { findEndpoint } from '../find-endpoint.ts';
import { endpointArgument, jsonOption, serverOption, wholeNumber } from '../options.ts';
import { captureLine, jsonLine } from '../output.ts';
import { readPage } from '../stored-requests.ts';
import { write } from '../terminal.ts';

export const command = defineCommand({
  name: 'requests',
  summary: 'list captured requests, newest first: time, index, method, target, size',
  arguments: z.object({ endpoint: endpointArgument }),
  options: z.object({
    limit: wholeNumber(1)
      .optional()
      .register(optionHelp, { value: 'N', help: `maximum number of requests (${DEFAULT_PAGE_SIZE})` }),
    before: wholeNumber(0)
      .optional()
      .register(optionHelp, { value: 'INDEX', help: 'only requests with a lower index: the next page' }),
    json: jsonOption,
    server: serverOption,
  }),
  async run({ endpoint, limit, before, json, server }, terminal) {
    const { client } = await openSession(server, terminal);
    const { uid } = await findEndpoint(client, endpoint);
    const line = json ? jsonLine : captureLine;
    let remaining = limit ?? DEFAULT_PAGE_SIZE;
    let end = before;
    for (;;) {
      const page = await readPage(client, uid, Math.min(remaining, MAX_PAGE_SIZE), end);
      await write(terminal.stdout, page.requests.map(line).join(''));
      remaining -= page.requests.length;
      end = page.requests.at(-1)?.index;
      if (!page.more || end === undefined) return;
      if (remaining <= 0) break;
    }
    await write(terminal.stderr, `There are more: --before ${end}\n`);
  },
});
