import type { InvocationOf } from '../args.ts';
import { signedInConnection } from '../connection.ts';
import { visible } from '../output.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Creates an endpoint. Standard output is its capture URL alone, so that a script can send to it. */
export async function create(invocation: InvocationOf<'create'>, terminal: Terminal): Promise<void> {
  const { client } = await signedInConnection(invocation.server, terminal);
  const { name } = invocation;
  const endpoint = await client.call('createEndpoint', { body: name === undefined ? {} : { name } });
  await write(terminal.stdout, `${visible(endpoint.url)}\n`);
}
