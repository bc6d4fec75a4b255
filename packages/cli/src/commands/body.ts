import { writeFile } from 'node:fs/promises';
import type { InvocationOf } from '../args.ts';
import { CliProblem } from '../cli-problem.ts';
import { signedInConnection } from '../connection.ts';
import { findEndpoint } from '../find-endpoint.ts';
import { isPlainText } from '../output.ts';
import { byIndex } from '../stored-requests.ts';
import { write } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

/** Writes the exact bytes of a body and nothing else: signatures verify over them. */
export async function body(invocation: InvocationOf<'body'>, terminal: Terminal): Promise<void> {
  const { client } = await signedInConnection(invocation.server, terminal);
  const { uid } = await findEndpoint(client, invocation.endpoint);
  const { index, output, force } = invocation;
  const bytes = await byIndex(client, uid, index, (id) => client.call('getRequestBody', { params: { uid, id } }));
  if (output !== undefined) return await writeTo(output, bytes);
  if (terminal.stdout.isTTY === true && !force && !isPlainText(bytes))
    throw new CliProblem(
      'The body is not plain text, and a terminal might obey it. Use --output FILE, a pipe or --force.',
    );
  await write(terminal.stdout, bytes);
}

async function writeTo(path: string, bytes: Uint8Array): Promise<void> {
  await writeFile(path, bytes).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CliProblem(`${path} can't be written (${code}).`);
  });
}
