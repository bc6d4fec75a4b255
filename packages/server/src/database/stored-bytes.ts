interface Stored {
  /** Encoded, a byte per character (request-head.ts), or those bytes. */
  readonly head: { readonly length: number };
  readonly body: { readonly length: number } | null;
}

/** Bytes that a request holds as it is stored: its head, and as much of its body as is at hand. */
export function storedBytes({ head, body }: Stored): number {
  return head.length + (body?.length ?? 0);
}
