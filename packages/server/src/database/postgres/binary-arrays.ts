/** The number of dimensions, the null flag, the element type, the length, and the lower bound. */
const HEADER_BYTES = 20;
/** The types of elements, by their numbers in `pg_type`. */
const INT8 = 20;
const INT4 = 23;

/** A binary array of 64-bit integers: half the cost of text for both sides (docs/decisions/0004-storage.md). */
export function int8Array(values: readonly number[]): Buffer {
  return binaryArray(INT8, 8, values, (buffer, value, at) => {
    buffer.writeInt32BE(Math.floor(value / 4_294_967_296), at);
    buffer.writeUInt32BE(value % 4_294_967_296, at + 4);
  });
}

/** A binary array of 32-bit integers. */
export function int4Array(values: readonly number[]): Buffer {
  return binaryArray(INT4, 4, values, (buffer, value, at) => void buffer.writeInt32BE(value, at));
}

/** A binary array of request keys: the endpoint's id and the index. */
export function keyArray(rows: readonly { readonly endpointId: number; readonly index: number }[]): Buffer {
  return binaryArray(INT8, 8, rows, (buffer, row, at) => {
    buffer.writeInt32BE(row.endpointId, at);
    buffer.writeUInt32BE(row.index, at + 4);
  });
}

function binaryArray<T>(
  type: number,
  size: number,
  values: readonly T[],
  write: (buffer: Buffer, value: T, at: number) => void,
): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + values.length * (4 + size));
  [1, 0, type, values.length, 1].forEach((word, nth) => buffer.writeInt32BE(word, nth * 4));
  values.forEach((value, nth) => {
    const at = HEADER_BYTES + nth * (4 + size);
    buffer.writeInt32BE(size, at);
    write(buffer, value, at + 4);
  });
  return buffer;
}
