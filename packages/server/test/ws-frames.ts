/** WebSocket frames by hand (RFC 6455 5.2), including invalid ones. */

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface FrameParts {
  readonly opcode: number;
  readonly payload?: Uint8Array;
  readonly fin?: boolean;
  /** The three reserved bits, as a number from 0 to 7. */
  readonly reserved?: number;
  readonly masked?: boolean;
  /** The declared length; defaults to the payload's. */
  readonly claims?: bigint;
  /** Size of the length field in bytes; 0 is the shortest form. */
  readonly lengthBytes?: 0 | 2 | 8;
}

/** One frame. The mask is all zeros, so that the payload stays readable. */
export function wsFrame(parts: FrameParts): Buffer {
  const { opcode, payload = Buffer.alloc(0), fin = true, reserved = 0, masked = true } = parts;
  const length = parts.claims ?? BigInt(payload.length);
  const form = parts.lengthBytes ?? (length < 126n ? 0 : length < 65_536n ? 2 : 8);
  const extended = Buffer.alloc(form);
  if (form === 2) extended.writeUInt16BE(Number(length));
  if (form === 8) extended.writeBigUInt64BE(length);
  const short = form === 0 ? Number(length) : form === 2 ? 126 : 127;
  const head = Buffer.of((fin ? 0x80 : 0) | (reserved << 4) | opcode, (masked ? 0x80 : 0) | short);
  return Buffer.concat([head, extended, masked ? Buffer.alloc(4) : Buffer.alloc(0), payload]);
}

/** A close frame's payload. */
export function closePayload(code: number, reason: string | Uint8Array = ''): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(code);
  return Buffer.concat([bytes, Buffer.from(reason)]);
}

export interface ReceivedFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** The frames that a server sent. */
export function readFrames(bytes: Buffer): ReceivedFrame[] {
  const frames: ReceivedFrame[] = [];
  for (let at = 0; at + 2 <= bytes.length;) {
    const short = bytes.readUInt8(at + 1) & 0x7f;
    const start = at + 2 + (short === 126 ? 2 : short === 127 ? 8 : 0);
    if (start > bytes.length) break;
    const length =
      short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short;
    frames.push({ opcode: bytes.readUInt8(at) & 0x0f, payload: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return frames;
}

/** The server's close code; undefined without a close frame, 1005 for one without a code. */
export function closeCodeIn(bytes: Buffer): number | undefined {
  const close = readFrames(bytes).find((frame) => frame.opcode === OPCODE.close);
  if (close === undefined) return undefined;
  return close.payload.length < 2 ? 1005 : close.payload.readUInt16BE(0);
}
