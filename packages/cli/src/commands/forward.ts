import type { InvocationOf } from '../args.ts';
import { followEndpoint } from '../follow/follow-endpoint.ts';
import { parseDestination } from '../forward/destination.ts';
import { Deliverer } from '../forward/deliver.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Sends each capture on from this machine, byte for byte and in order, and prints what became of it. Ends well on Ctrl-C. */
export async function forward(invocation: InvocationOf<'forward'>, terminal: Terminal): Promise<void> {
  const destination = parseDestination(invocation.url);
  await followEndpoint(invocation, terminal, ({ client, endpoint, signal, tell }) => {
    const print = (line: string): Promise<void> => write(terminal.stdout, line);
    const options = { client, uid: endpoint.uid, destination, json: invocation.json, signal, print, tell };
    return {
      begins: `Forwarding ${endpoint.url} to ${destination.href}`,
      take: new Deliverer(options).deliver,
      gone: 'Deleted before it could be forwarded',
    };
  });
}
