import type { InvocationOf } from '../args.ts';
import { signedInConnection } from '../connection.ts';
import { endpointLines, jsonLine } from '../output.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Lists the person's endpoints in the server's order: favourites first, then newest (contract 4). */
export async function endpoints(invocation: InvocationOf<'endpoints'>, terminal: Terminal): Promise<void> {
  const { client, now } = await signedInConnection(invocation.server, terminal);
  const all = await client.call('listEndpoints', {});
  await write(terminal.stdout, invocation.json ? all.map(jsonLine).join('') : endpointLines(all, now()));
  if (all.length === 0) await write(terminal.stderr, 'You have no endpoints. Create one with: creel create\n');
}
