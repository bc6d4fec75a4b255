/** The code of an error: Node's, a library's, or PostgreSQL's SQLSTATE. `undefined` without one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
