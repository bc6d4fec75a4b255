import { z } from 'zod';
import { defineCommand } from '../command.ts';
import { openSession } from '../connection.ts';
import { findEndpoint } from '../find-endpoint.ts';
import { endpointArgument, indexArgument, serverOption } from '../options.ts';
import { requestText } from '../output.ts';
import { withRequestId } from '../stored-requests.ts';
import { write } from '../terminal.ts';

export const command = defineCommand({
  name: 'show',
  summary: 'print one request: method and target, headers as sent, body if it is text',
  arguments: z.object({ endpoint: endpointArgument, index: indexArgument }),
  options: z.object({ server: serverOption }),
  async run({ endpoint, index, server }, terminal) {
    const { client } = await openSession(server, terminal);
    const { uid } = await findEndpoint(client, endpoint);
    const request = await withRequestId(client, uid, index, (id) => client.call('getRequest', { params: { uid, id } }));
    await write(terminal.stdout, requestText(request));
    if (request.bodyEncoding === 'base64' && request.body !== null)
      await write(terminal.stderr, `The body is not text (${request.size} B). For its bytes: creel body\n`);
  },
});
