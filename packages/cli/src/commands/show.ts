import { z } from 'zod';
import { defineCommand } from '../command.ts';
import { openEndpoint } from '../find-endpoint.ts';
import { endpointArgument, flag, indexArgument, serverOption } from '../options.ts';
import { jsonLine, requestText } from '../output.ts';
import { withRequestId } from '../stored-requests.ts';
import { write } from '../terminal.ts';

export const command = defineCommand({
  name: 'show',
  summary: 'print one request: method and target, headers as sent, body if it is text',
  arguments: z.object({ endpoint: endpointArgument, index: indexArgument }),
  options: z.object({ json: flag('print the request as one JSON object, as in the API'), server: serverOption }),
  async run({ endpoint, index, json, server }, terminal) {
    const { client, uid } = await openEndpoint(server, endpoint, terminal);
    const request = await withRequestId(client, uid, { index }, (id) =>
      client.call('getRequest', { params: { uid, id } }),
    );
    await write(terminal.stdout, json ? jsonLine(request) : requestText(request));
    if (!json && request.bodyEncoding === 'base64' && request.body !== null)
      await write(terminal.stderr, `The body is not text (${request.size} B). For its bytes: creel body\n`);
  },
});
