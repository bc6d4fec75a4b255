import type { Client, Endpoint } from '@creel/contract';
import { CliProblem } from './cli-problem.ts';

/** The endpoint that is meant: by uid, by capture URL, by exact name, in this order. @throws CliProblem for none or several */
export async function findEndpoint(client: Client, meant: string): Promise<Endpoint> {
  return chooseEndpoint(await client.call('listEndpoints', {}), meant);
}

export function chooseEndpoint(endpoints: readonly Endpoint[], meant: string): Endpoint {
  const uid = uidOfUrl(meant) ?? meant;
  const byUid = endpoints.find((endpoint) => endpoint.uid === uid);
  if (byUid !== undefined) return byUid;
  const [named, ...others] = endpoints.filter((endpoint) => endpoint.name === meant);
  if (named === undefined) throw new CliProblem(`None of your endpoints is “${meant}”. See: creel endpoints`);
  if (others.length === 0) return named;
  const uids = [named, ...others].map((endpoint) => endpoint.uid).join(', ');
  throw new CliProblem(`${others.length + 1} endpoints are called “${meant}”. Use a uid: ${uids}`);
}

/** The uid in a capture URL. Its host may be another name of the same server; a uid is never the same twice (contract 2). */
function uidOfUrl(text: string): string | undefined {
  return /^https?:\/\/[^/]+\/h\/([\w-]+)(?:[/?#]|$)/.exec(text)?.[1];
}
