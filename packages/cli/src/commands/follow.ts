import type { InvocationOf } from '../args.ts';
import { followEndpoint } from '../follow/follow-endpoint.ts';
import { captureLine, jsonLine } from '../output.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Prints each capture as it arrives, and what arrived while the connection was away: by index, each once. Ends well on Ctrl-C. */
export async function follow(invocation: InvocationOf<'follow'>, terminal: Terminal): Promise<void> {
  const line = invocation.json ? jsonLine : captureLine;
  await followEndpoint(invocation, terminal, ({ endpoint }) => ({
    begins: `Following ${endpoint.url}`,
    take: (request) => write(terminal.stdout, line(request)),
    gone: 'Deleted before it could be shown',
  }));
}
