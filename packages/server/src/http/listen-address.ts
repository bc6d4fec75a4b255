import type { Server } from 'node:http';

/** The port that the server listens on; 0 before it listens. */
export function portOf(listener: Server | undefined): number {
  const address = listener?.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The server's own origin, without a trailing slash. An IPv6 address is in brackets. */
export function originOf(host: string, listener: Server | undefined): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${portOf(listener)}`;
}
