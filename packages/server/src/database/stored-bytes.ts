interface Stored {
  /** The encoded text, one byte per character (request-head.ts), or its bytes. */
  readonly head: { readonly length: number };
  readonly body: { readonly length: number } | null;
}

/** Bytes of a stored request: its head and the loaded part of its body. */
export function storedBytes({ head, body }: Stored): number {
  return head.length + (body?.length ?? 0);
}
