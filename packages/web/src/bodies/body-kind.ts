import { textOf, tryDecode } from '@creel/contract';

const PARAMETER = /;\s*([^\s=;]+)=(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g;

/**
 * Parses a content type such as `multipart/form-data; boundary="x"` (RFC 9110, section 8.3.1): the type in lower case, and
 * its parameters by lower-case name. Invalid parameters are skipped.
 */
export function mediaType(header: string | null | undefined) {
  const text = header ?? '';
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, bare = ''] of text.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted === undefined ? bare : quoted.replaceAll(/\\(.)/g, '$1'));
  }
  return { type: (text.split(';', 1)[0] ?? '').trim().toLowerCase(), parameters };
}

/** One line with the name of a field first. curl declares a form for any text, and sends the values as they were typed. */
const FORM = /^[^\s=<>{}"]*=.*$/;

/**
 * The fields of an urlencoded form in order, repeats included (WHATWG URL, section 5.1); `undefined` if the text is
 * not a form.
 */
export function parseForm(text: string): [string, string][] | undefined {
  if (!FORM.test(text.trim())) return undefined;
  // The constructor drops a leading question mark. After an empty pair, it keeps it.
  return [...new URLSearchParams('&' + text.trim())];
}

/** What a body is, decided by its bytes rather than by its content type. */
export type BodyKind = 'none' | 'json' | 'form' | 'multipart' | 'image' | 'xml' | 'text' | 'binary';

/** Raster formats that can't run scripts, by their first bytes. SVG is excluded because it is a document. */
const IMAGES: readonly { readonly type: string; readonly magic: readonly number[]; readonly at?: number }[] = [
  { type: 'image/png', magic: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: 'image/jpeg', magic: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', magic: [0x47, 0x49, 0x46, 0x38] },
  { type: 'image/webp', magic: [0x57, 0x45, 0x42, 0x50], at: 8 },
  { type: 'image/avif', magic: [0x66, 0x74, 0x79, 0x70, 0x61, 0x76, 0x69, 0x66], at: 4 },
  { type: 'image/bmp', magic: [0x42, 0x4d] },
];

/** The type of a raster image by its first bytes; `undefined` for everything else. */
export function imageType(bytes: Uint8Array): string | undefined {
  return IMAGES.find(({ magic, at = 0 }) => magic.every((byte, offset) => bytes[at + offset] === byte))?.type;
}

/**
 * The extension for a file of these bytes: `json`, `txt`, that of an image, `gz`, or `bin`. Never one that a browser
 * would run when the file is opened, such as `html` or `svg`.
 */
export function fileExtension(bytes: Uint8Array): string {
  const image = imageType(bytes);
  if (image !== undefined) return image.slice('image/'.length);
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gz';
  const text = textOf(bytes);
  if (text === undefined || text.includes('\0')) return 'bin';
  return tryDecode(() => JSON.parse(text) !== undefined) === true ? 'json' : 'txt';
}

interface BodyFacts {
  readonly bytes: Uint8Array;
  /** The decoded text, if the bytes are valid UTF-8. */
  readonly text: string | undefined;
  readonly isJson: boolean;
  readonly contentType: string | null;
}

/** Detects the kind by the bytes. The content type only decides between kinds that share a syntax. */
export function bodyKind({ bytes, text, isJson, contentType }: BodyFacts): BodyKind {
  if (bytes.length === 0) return 'none';
  const { type } = mediaType(contentType);
  if (type.startsWith('multipart/')) return 'multipart';
  if (text === undefined) return imageType(bytes) === undefined ? 'binary' : 'image';
  if (isJson) return 'json';
  if (type.includes('x-www-form-urlencoded') && parseForm(text) !== undefined) return 'form';
  if (/^\uFEFF?\s*<(\?xml|[A-Za-z_!])/.test(text) && !/^\s*<!doctype html|^\s*<html/i.test(text)) return 'xml';
  return text.includes('\0') ? 'binary' : 'text';
}

/** NUL and ESC. Plain text does not contain them; 16-bit and stateful character sets do. */
const OTHER_CHARSET_BYTES = new Set([0x00, 0x1b]);

/**
 * Decodes a body from the character set of its content type (RFC 9110, section 8.3.2). `undefined` if the browser knows
 * none, if the bytes are not valid in it, or if they are UTF-8, because many senders declare `iso-8859-1` and send UTF-8.
 * @param whole false if the bytes may end within a character
 */
export function textInCharset(
  bytes: Uint8Array,
  contentType: string | null,
  { isUtf8, whole }: { readonly isUtf8: boolean; readonly whole: boolean },
) {
  const charset = mediaType(contentType).parameters.get('charset');
  if (charset === undefined || bytes.length === 0) return undefined;
  // Throws for names that the Encoding Standard does not know.
  const decoder = tryDecode(() => new TextDecoder(charset, { fatal: true }));
  if (decoder === undefined || decoder.encoding === 'utf-8') return undefined;
  if (isUtf8 && !bytes.some((byte) => OTHER_CHARSET_BYTES.has(byte))) return undefined;
  if (imageType(bytes) !== undefined) return undefined;
  const text = tryDecode(() => decoder.decode(bytes, { stream: !whole }));
  return text === undefined ? undefined : { charset: charset.toLowerCase(), text };
}
