/** The decoder behind the public `decompress` of the package, which has no limit. Resolved by an alias (vite.config.ts). */
declare module 'brotli/dec/decode.js' {
  interface Input {
    /** Copies up to `count` bytes to `start`. Returns their number. */
    read(into: Uint8Array, start: number, count: number): number;
  }
  interface Output {
    readonly buffer: { readonly length: number };
    /** Takes the first `count` bytes of the window. */
    write(window: Uint8Array, count: number): void;
  }
  /** @throws Error if the input is not valid */
  export function BrotliDecompress(input: Input, output: Output): void;
}
