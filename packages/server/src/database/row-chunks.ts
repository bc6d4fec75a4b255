/** Sizes of chunks. Few sizes make few statements, which SQLite's statement cache holds. */
const SIZES = [64, 8, 1];

/** Splits rows for statements with several rows each, so that PostgreSQL needs few round trips. */
export function* rowChunks<Row>(rows: readonly Row[]): Generator<Row[]> {
  let at = 0;
  for (const size of SIZES) for (; rows.length - at >= size; at += size) yield rows.slice(at, at + size);
}
