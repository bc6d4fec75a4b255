import { randomBytes } from 'node:crypto';
import { openRaw, rawRequest } from '../../../fixtures/raw-http.ts';

export type RawUpgrade = Awaited<ReturnType<typeof upgradeRaw>>;

export interface UpgradeLines {
  readonly cookie?: string;
  /** Additional header lines, or other values for those of a handshake. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

/**
 * Requests a WebSocket with any headers. Returns the response, and the connection, which is a WebSocket after a 101.
 */
export async function upgradeRaw(port: number, path: string, lines: UpgradeLines = {}) {
  const connection = await openRaw({ port });
  const headers: Record<string, string> = {
    Host: `127.0.0.1:${port}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    ...(lines.cookie === undefined ? {} : { Cookie: lines.cookie }),
    ...lines.headers,
  };
  const head = [
    `${lines.method ?? 'GET'} ${path} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  await connection.send(rawRequest(head));
  return { answer: await connection.next(), connection };
}
