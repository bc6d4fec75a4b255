import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '@creel/contract';
import type { InvocationOf } from '../args.ts';
import { signedInConnection } from '../connection.ts';
import { findEndpoint } from '../find-endpoint.ts';
import { captureLine, jsonLine } from '../output.ts';
import { readPage } from '../stored-requests.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Lists captured requests, newest first, and says on standard error how to go on where there are more. */
export async function requests(invocation: InvocationOf<'requests'>, terminal: Terminal): Promise<void> {
  const { client } = await signedInConnection(invocation.server, terminal);
  const { uid } = await findEndpoint(client, invocation.endpoint);
  const line = invocation.json ? jsonLine : captureLine;
  let left = invocation.limit ?? DEFAULT_PAGE_SIZE;
  let before = invocation.before;
  for (;;) {
    const page = await readPage(client, uid, Math.min(left, MAX_PAGE_SIZE), before);
    await write(terminal.stdout, page.requests.map(line).join(''));
    left -= page.requests.length;
    before = page.requests.at(-1)?.index;
    if (!page.more || before === undefined) return;
    if (left <= 0) break;
  }
  await write(terminal.stderr, `There are more: --before ${before}\n`);
}
