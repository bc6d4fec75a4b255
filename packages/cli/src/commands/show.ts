import type { InvocationOf } from '../args.ts';
import { signedInConnection } from '../connection.ts';
import { findEndpoint } from '../find-endpoint.ts';
import { requestText } from '../output.ts';
import { byIndex } from '../stored-requests.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Prints one request whole, in the case, the order and the repeats of the wire. */
export async function show(invocation: InvocationOf<'show'>, terminal: Terminal): Promise<void> {
  const { client } = await signedInConnection(invocation.server, terminal);
  const { uid } = await findEndpoint(client, invocation.endpoint);
  const request = await byIndex(client, uid, invocation.index, (id) =>
    client.call('getRequest', { params: { uid, id } }),
  );
  await write(terminal.stdout, requestText(request));
  if (request.bodyEncoding === 'base64' && request.body !== null)
    await write(terminal.stderr, `The body is not text (${request.size} B). For its bytes: creel body\n`);
}
