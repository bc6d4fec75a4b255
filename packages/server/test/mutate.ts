import type { Dice } from '../../../fixtures/dice.ts';

/** A small change to a request's bytes, as by a broken proxy or an attacker. */
type Mutation = (bytes: Buffer, dice: Dice) => Buffer;

const spliced = (bytes: Buffer, at: number, remove: number, insert: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);

/** A position, mostly in the head, which is a small part of most requests. */
function place(bytes: Buffer, dice: Dice): number {
  const headEnd = bytes.indexOf('\r\n\r\n') + 4;
  return dice.roll() < 0.8 ? dice.below(headEnd) : dice.below(bytes.length);
}

const LINE_ENDS = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\n\r\n',
  '\n\n',
  '\r\r\n',
  '\n\r',
  '\r\r',
  '\r\n\r',
  '\r\n\n',
  '\r\n ',
  '\r\n\t',
];
const NASTY = [
  ...LINE_ENDS,
  '\0',
  ' ',
  '\t',
  '\v',
  '\f',
  '\x85',
  ':',
  '\x7f',
  '\xff',
  ',',
  ';',
  '0\r\n\r\n',
  '0\n\n',
  '+',
  '-',
];

const mutations: readonly Mutation[] = [
  (bytes, dice) => spliced(bytes, place(bytes, dice), 1, Buffer.alloc(0)),
  (bytes, dice) => spliced(bytes, place(bytes, dice), 1, Buffer.of(dice.below(256))),
  (bytes, dice) => spliced(bytes, place(bytes, dice), 0, Buffer.of(dice.below(256))),
  (bytes, dice) => spliced(bytes, place(bytes, dice), 0, Buffer.from(dice.pick(NASTY), 'latin1')),
  (bytes, dice) => bytes.subarray(0, place(bytes, dice)),
  // Repeats a header line.
  (bytes, dice) => {
    const lines = bytes.toString('latin1', 0, bytes.indexOf('\r\n\r\n')).split('\r\n');
    const line = dice.pick(lines.length > 1 ? lines.slice(1) : lines);
    return spliced(bytes, bytes.indexOf('\r\n') + 2, 0, Buffer.from(`${line}\r\n`, 'latin1'));
  },
  // Moves the end of the head.
  (bytes, dice) => {
    const at = bytes.indexOf('\r\n\r\n');
    return spliced(spliced(bytes, at, 4, Buffer.from('\r\n')), dice.below(at), 0, Buffer.from('\r\n\r\n'));
  },
  // Adds a framing header.
  (bytes, dice) => {
    const line = dice.pick([
      'Content-Length: 5',
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: identity',
      'Host: other',
      'Content-Length: 0',
    ]);
    return spliced(bytes, bytes.indexOf('\r\n') + 2, 0, Buffer.from(`${line}\r\n`));
  },
];

/** The bytes with one to three changes. */
export function mutate(bytes: Buffer, dice: Dice): Buffer {
  let changed = bytes;
  for (let left = 1 + dice.below(3); left > 0; left -= 1) {
    if (changed.includes('\r\n\r\n')) changed = dice.pick(mutations)(changed, dice);
  }
  return changed;
}
