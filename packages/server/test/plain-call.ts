import { expect } from 'vitest';
import { request } from 'node:http';

export interface PlainCall {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A call that no browser and no `fetch` can send: any Host, any Origin, a body with any method. */
export function plainCall(port: number, { method, path, headers = {}, body }: PlainCall): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const call = request({ host: '127.0.0.1', port, method, path, headers: { ...length, ...headers } }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('error', reject);
      answer.on('end', () => {
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text: Buffer.concat(pieces).toString('utf8'),
        });
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}

/** Requests a WebSocket and returns the rejection; 101 when it was accepted. */
export function plainUpgrade(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const handshake = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const call = request({ host: '127.0.0.1', port, path, headers: { ...handshake, ...headers } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    call.on('upgrade', (answer, socket) => {
      socket.destroy();
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: '' });
    });
    call.on('error', reject);
    call.end();
  });
}

/** The security headers of every response. */
export function expectSecure({ headers }: PlainAnswer): void {
  const policy = String(headers['content-security-policy']);
  for (const directive of ["default-src 'none'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]) {
    // A download has its own, stricter policy.
    if (policy !== "sandbox; default-src 'none'") expect(policy).toContain(directive);
  }
  expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
  });
  for (const header of ['x-powered-by', 'server', 'access-control-allow-origin', 'access-control-allow-credentials']) {
    expect(headers[header]).toBeUndefined();
  }
}
