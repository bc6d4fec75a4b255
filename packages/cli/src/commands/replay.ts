import type { ReplayAnswer } from '@creel/contract';
import type { InvocationOf } from '../args.ts';
import { signedInConnection } from '../connection.ts';
import { findEndpoint } from '../find-endpoint.ts';
import { jsonLine, visible, visibleText } from '../output.ts';
import { byIndex } from '../stored-requests.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Has the server send a stored request again, byte for byte, and prints what the target answered. */
export async function replay(invocation: InvocationOf<'replay'>, terminal: Terminal): Promise<void> {
  const { client } = await signedInConnection(invocation.server, terminal);
  const { uid } = await findEndpoint(client, invocation.endpoint);
  const answer = await byIndex(client, uid, invocation.index, async (id) => {
    const { method, rawHeaders } = await client.call('getRequest', { params: { uid, id } });
    const headers = rawHeaders.map(([key, value]) => ({ key, value }));
    return client.call('replay', {
      body: { method, url: invocation.url, headers, bodyFrom: { endpointUid: uid, id } },
    });
  });
  await write(terminal.stdout, invocation.json ? jsonLine(answer) : answerText(answer));
  if (answer.bodyTruncated)
    await write(terminal.stderr, 'The answer was longer, or broke off: this is its beginning.\n');
}

/** An answer as it came, as far as a terminal may show it. */
function answerText({ status, statusText, headers, body, bodyEncoding, durationMs }: ReplayAnswer): string {
  const lines = [
    `${status} ${statusText}`.trimEnd() + `  ${durationMs} ms`,
    ...headers.map(({ key, value }) => `${key}: ${value}`),
  ];
  const text = bodyEncoding === 'utf8' ? visibleText(body ?? '') : '(The body is not text. For its bytes: --json)';
  return `${lines.map((line) => `${visible(line)}\n`).join('')}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}`;
}
