import type { Client, Endpoint } from '@creel/contract';
import { CliError } from './cli-error.ts';
import { openSession } from './connection.ts';
import type { Terminal } from './terminal.ts';

/** The client of the stored session, and the uid of one of its endpoints. @throws CliError as openSession and findEndpoint */
export async function openEndpoint(server: string | undefined, reference: string, terminal: Terminal) {
  const { client } = await openSession(server, terminal);
  const { uid } = await findEndpoint(client, reference);
  return { client, uid };
}

/** Finds an endpoint by uid, capture URL or exact name, in this order. @throws CliError for no match or several */
export async function findEndpoint(client: Client, reference: string): Promise<Endpoint> {
  return chooseEndpoint(await client.call('listEndpoints', {}), reference);
}

/** As `findEndpoint`, of these endpoints. */
export function chooseEndpoint(endpoints: readonly Endpoint[], reference: string): Endpoint {
  const uid = uidOfUrl(reference) ?? reference;
  const byUid = endpoints.find((endpoint) => endpoint.uid === uid);
  if (byUid !== undefined) return byUid;
  const [named, ...others] = endpoints.filter((endpoint) => endpoint.name === reference);
  if (named === undefined) throw new CliError(`None of your endpoints is “${reference}”. See: creel endpoints`);
  if (others.length === 0) return named;
  const uids = [named, ...others].map((endpoint) => endpoint.uid).join(', ');
  throw new CliError(`${others.length + 1} endpoints are called “${reference}”. Use a uid: ${uids}`);
}

/** The uid in a capture URL. Any host is accepted, because a server has several names and a uid is unique. */
export function uidOfUrl(text: string): string | undefined {
  return /^https?:\/\/[^/]+\/h\/([\w-]+)(?:[/?#]|$)/.exec(text)?.[1];
}
