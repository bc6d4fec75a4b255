import type { Server } from 'node:http';

/** The port that it got; 0 before it listens. */
export function portOf(listener: Server | undefined): number {
  const address = listener?.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The origin under which it can be reached, without a slash at the end. An IPv6 address stands in brackets in a URL. */
export function originOf(host: string, listener: Server | undefined): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${portOf(listener)}`;
}
