import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '@creel/contract';
import type { CapturedRequest, Client } from '@creel/contract';
import { z } from 'zod';
import { defineCommand, optionHelp } from '../command.ts';
import { openEndpoint } from '../find-endpoint.ts';
import { endpointArgument, jsonOption, noteUnknownFields, queryOption, serverOption, wholeNumber } from '../options.ts';
import { captureLine, jsonLine } from '../output.ts';
import { foundRequests, readPage } from '../stored-requests.ts';
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
    query: queryOption,
    json: jsonOption,
    server: serverOption,
  }),
  async run({ endpoint, limit = DEFAULT_PAGE_SIZE, before, query, json, server }, terminal) {
    const { client, uid } = await openEndpoint(server, endpoint, terminal);
    await noteUnknownFields(query, terminal);
    const line = json ? jsonLine : captureLine;
    const found =
      query === undefined ? storedRequests(client, uid, limit, before) : foundRequests(client, uid, query, before);
    let printed = 0;
    let last: number | undefined;
    for await (const request of found) {
      if (printed === limit) {
        await write(terminal.stderr, `There are more: --before ${last}\n`);
        return;
      }
      await write(terminal.stdout, line(request));
      printed += 1;
      last = request.index;
    }
    if (printed === 0) await write(terminal.stderr, query === undefined ? 'No requests.\n' : 'No request matches.\n');
  },
});

/** Stored requests, newest first. Asks for one more than `limit`, which shows whether there are more. */
async function* storedRequests(
  client: Client,
  uid: string,
  limit: number,
  before: number | undefined,
): AsyncGenerator<CapturedRequest, void, undefined> {
  let end = before;
  let remaining = limit + 1;
  for (;;) {
    const page = await readPage(client, uid, Math.min(remaining, MAX_PAGE_SIZE), end);
    yield* page.requests;
    remaining -= page.requests.length;
    end = page.requests.at(-1)?.index;
    if (!page.more || end === undefined || remaining <= 0) return;
  }
}
