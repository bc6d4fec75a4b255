// Requests for the screenshots besides the webhooks in `fixtures/`: other methods and other kinds of body.
import { crc32, deflateSync } from 'node:zlib';

/** Arguments for `fetch`, and the path after the capture URL. */
export type Capture = RequestInit & { readonly path?: string };

const json = (path: string, method: string, value: unknown, headers: Record<string, string> = {}): Capture => ({
  path,
  method,
  body: JSON.stringify(value),
  headers: { 'content-type': 'application/json', ...headers },
});

/** The first has a query. */
export const SMALL_CAPTURES: readonly Capture[] = [
  { path: '/callback?code=4%2F0AX&state=af0ifjsldkj&scope=email&scope=profile', method: 'GET' },
  json('/orders/1042', 'PUT', { id: 1042, status: 'shipped', carrier: 'DHL' }),
  json('/repos/hooks', 'POST', { action: 'opened', number: 7 }, { 'x-github-event': 'pull_request' }),
  json('/customers/cus_9s6XKzkNRiz8i3', 'PATCH', { email: 'jenny@example.com' }),
  { path: '/sessions/8f14e45f', method: 'DELETE' },
  json('/events', 'POST', { type: 'customer.subscription.updated' }, { 'user-agent': 'Stripe/1.0' }),
  { path: '/health', method: 'HEAD' },
  { path: '/notes', method: 'POST', body: 'a line of text', headers: { 'content-type': 'text/plain' } },
];

/** A path of 2,000 characters. */
export const LONG_PATH: Capture = json(`/push${'/a-part-of-it'.repeat(153)}/end?q=${'v'.repeat(200)}`, 'POST', {
  [`key_${'k'.repeat(200)}`]: 'value '.repeat(200),
});

export const BINARY: Capture = {
  path: '/upload',
  method: 'POST',
  body: Uint8Array.from({ length: 2048 }, (_, at) => (at * 7 + (at >> 4)) & 255),
  headers: { 'content-type': 'application/octet-stream' },
};

/** JSON with JSON in a string, base64, a time and a long path that is percent-encoded. */
export const EMBEDDED: Capture = json(
  '/caf%C3%A9/notifications/orders/2026-11-22/part%20two?attempt=1',
  'POST',
  {
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    Message: JSON.stringify({ order: 'A-1042', items: [{ sku: 'A1', note: '{"gift":true}' }] }),
    data: btoa('{"delivered":true,"carrier":"DHL"}'),
    created: 1_795_242_117,
    amount: 1_795_242_117,
  },
  { 'x-amz-sns-message-type': 'Notification' },
);

/** JSON that ends too early. */
export const CUT: Capture = {
  path: '/cut',
  method: 'POST',
  body: '{\n  "order": "A-1042",\n  "lines": [\n    { "sku": "A1", "quantity": 2 },\n    { "sku": "B7", "quan',
  headers: { 'content-type': 'application/json' },
};

export const HTML: Capture = {
  path: '/page',
  method: 'POST',
  body: '<!doctype html>\n<title>Receipt</title>\n<h1>Thank you</h1>\n<p onclick="alert(1)">Paid in full.</p>\n',
  headers: { 'content-type': 'text/html; charset=utf-8' },
};

export const PIXELS: Capture = {
  path: '/avatar.png',
  method: 'POST',
  body: new Uint8Array(png(240, 160)),
  headers: { 'content-type': 'image/png' },
};

/** A PNG with a color gradient (PNG specification, sections 5 and 11). */
function png(width: number, height: number): Buffer {
  const lines = Array.from({ length: height }, (_, y) => {
    const pixels = Array.from({ length: width }, (__, x) => [x, 90 + y / 2, 255 - x]);
    return [0, ...pixels.flat().map((value) => value & 255)];
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.from(lines.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
