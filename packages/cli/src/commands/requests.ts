import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '@creel/contract';
import type { CapturedRequest, Client } from '@creel/contract';
import type { InvocationOf } from '../args.ts';
import { signedInConnection } from '../connection.ts';
import { findEndpoint } from '../find-endpoint.ts';
import { captureLine, jsonLine } from '../output.ts';
import { foundRequests, readPage } from '../stored-requests.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Lists captured requests, newest first, and says on standard error how to go on where there are more. */
export async function requests(invocation: InvocationOf<'requests'>, terminal: Terminal): Promise<void> {
  const { client } = await signedInConnection(invocation.server, terminal);
  const { uid } = await findEndpoint(client, invocation.endpoint);
  const line = invocation.json ? jsonLine : captureLine;
  const print = (found: readonly CapturedRequest[]): Promise<void> => write(terminal.stdout, found.map(line).join(''));
  const { query, limit = DEFAULT_PAGE_SIZE, before } = invocation;
  const next =
    query === undefined
      ? await listStored(client, uid, { limit, before }, print)
      : await listFound(foundRequests(client, uid, query, before), limit, print);
  if (next !== undefined) await write(terminal.stderr, `There are more: --before ${next}\n`);
}

type Print = (found: readonly CapturedRequest[]) => Promise<void>;

/** Prints up to `limit` requests. Returns the index below which there are more. */
async function listStored(
  client: Client,
  uid: string,
  { limit, before }: { readonly limit: number; readonly before: number | undefined },
  print: Print,
): Promise<number | undefined> {
  let left = limit;
  let below = before;
  for (;;) {
    const page = await readPage(client, uid, Math.min(left, MAX_PAGE_SIZE), below);
    await print(page.requests);
    left -= page.requests.length;
    below = page.requests.at(-1)?.index;
    if (!page.more || below === undefined) return undefined;
    if (left <= 0) return below;
  }
}

/** The same for requests that were searched for; each is printed when it is found. */
async function listFound(
  found: AsyncIterable<CapturedRequest>,
  limit: number,
  print: Print,
): Promise<number | undefined> {
  let left = limit;
  let last: number | undefined;
  for await (const request of found) {
    if (left === 0) return last;
    await print([request]);
    left -= 1;
    last = request.index;
  }
  return undefined;
}
