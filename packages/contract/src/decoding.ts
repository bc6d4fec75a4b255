/** The result of a decoder of the platform; `undefined` if it throws, because its input is invalid. */
export function tryDecode<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

/** The value of JSON text; `undefined` for other text. */
export function parseJson(text: string): unknown {
  return tryDecode(() => JSON.parse(text));
}

const STRICT = { fatal: true, ignoreBOM: true };
const utf8 = new TextDecoder('utf-8', STRICT);

/** Decodes valid UTF-8, including a byte order mark; `undefined` for other bytes. */
export function textOf(bytes: Uint8Array): string | undefined {
  return tryDecode(() => utf8.decode(bytes));
}

/** The same for bytes that may end within a character, which is left out. */
export function textOfBeginning(bytes: Uint8Array): string | undefined {
  return tryDecode(() => new TextDecoder('utf-8', STRICT).decode(bytes, { stream: true }));
}
