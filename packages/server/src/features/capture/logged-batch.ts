import { METHODS } from 'node:http';
import { z } from 'zod';
import type { PackedCaptures } from '../../database/packed-captures.ts';

/** The overflow log contains something that this version can't read. */
class UnreadableBatch extends Error {
  override readonly name = 'UnreadableBatch';
}

const VERSION = 1;
const BYTES_PER_NUMBER = 8;
/** `numbers` has this many numbers per capture; the third one is the position of the method. */
const FIELDS = 5;
const METHOD_FIELD = 2;

const headSchema = z.object({
  version: z.literal(VERSION),
  id: z.uuid(),
  count: z.int().positive(),
  /** The methods that the numbers refer to. They differ between versions of Node. */
  methods: z.array(z.string()),
});

/** Encodes a batch: the length of a JSON head, the head, the numbers, then heads and bodies of the captures. */
export function encodeBatch({ id, count, numbers, bytes }: PackedCaptures): Buffer {
  const head = Buffer.from(JSON.stringify({ version: VERSION, id, count, methods: METHODS }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, new Uint8Array(numbers.buffer, 0, count * FIELDS * BYTES_PER_NUMBER), bytes]);
}

/** Decodes a batch. @throws UnreadableBatch */
export function decodeBatch(encoded: Uint8Array): PackedCaptures {
  try {
    return decode(Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength));
  } catch (error) {
    throw new UnreadableBatch('A batch of the overflow log could not be read.', { cause: error });
  }
}

function decode(encoded: Buffer): PackedCaptures {
  const headEnd = 4 + encoded.readUInt32LE();
  const { id, count, methods } = headSchema.parse(JSON.parse(encoded.toString('utf8', 4, headEnd)));
  const numbersEnd = headEnd + count * FIELDS * BYTES_PER_NUMBER;
  if (numbersEnd > encoded.length) throw new RangeError('The batch is shorter than its head says.');
  // A copy, because a Float64Array must be aligned.
  const numbers = new Float64Array(count * FIELDS);
  encoded.copy(Buffer.from(numbers.buffer), 0, headEnd, numbersEnd);
  for (let at = METHOD_FIELD; at < numbers.length; at += FIELDS)
    numbers[at] = METHODS.indexOf(methods[numbers[at] ?? -1] ?? '');
  const bytes = new Uint8Array(encoded.length - numbersEnd);
  encoded.copy(bytes, 0, numbersEnd);
  return { id, count, numbers, bytes };
}
