import type { ReplayAnswer } from '@creel/contract';
import { z } from 'zod';
import { defineCommand } from '../command.ts';
import { openEndpoint } from '../find-endpoint.ts';
import { endpointArgument, flag, indexArgument, serverOption } from '../options.ts';
import { jsonLine, visible, visibleText } from '../output.ts';
import { parseDestination } from '../send-capture.ts';
import { withRequestId } from '../stored-requests.ts';
import { write } from '../terminal.ts';

export const command = defineCommand({
  name: 'replay',
  summary: 'have the server send a request to a URL again and print the response',
  details: 'For a URL that only this machine can reach, use: creel forward',
  arguments: z.object({ endpoint: endpointArgument, index: indexArgument, url: z.string() }),
  options: z.object({ json: flag('print the response as one JSON object, as in the API'), server: serverOption }),
  async run({ endpoint, index, url, json, server }, terminal) {
    parseDestination(url, 'send');
    const { client, uid } = await openEndpoint(server, endpoint, terminal);
    const response = await withRequestId(client, uid, { index }, async (id) => {
      const { method, rawHeaders } = await client.call('getRequest', { params: { uid, id } });
      const headers = rawHeaders.map(([key, value]) => ({ key, value }));
      return client.call('replay', { body: { method, url, headers, bodyFrom: { endpointUid: uid, id } } });
    });
    await write(terminal.stdout, json ? jsonLine(response) : responseText(response));
    if (response.bodyTruncated)
      await write(terminal.stderr, 'The response was longer or was interrupted. This is its beginning.\n');
  },
});

function responseText({ status, statusText, headers, body, bodyEncoding, durationMs }: ReplayAnswer): string {
  const lines = [
    `${status} ${statusText}`.trimEnd() + `  ${durationMs} ms`,
    ...headers.map(({ key, value }) => `${key}: ${value}`),
  ];
  const text = bodyEncoding === 'utf8' ? visibleText(body ?? '') : '(The body is not text. For its bytes: --json)';
  return `${lines.map((line) => `${visible(line)}\n`).join('')}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}`;
}
