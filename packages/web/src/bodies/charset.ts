import { imageType } from './body-kind.ts';
import { mediaType } from './media-type.ts';

/** A text with the name of the character set that it was decoded from. */
export interface DecodedText {
  readonly charset: string;
  readonly text: string;
}

/** Bytes that plain text has no use for, and that 16-bit and stateful character sets are full of: NUL and ESC. */
const TELLTALE = new Set([0x00, 0x1b]);

/** Characters of more than two bytes begin so many bytes before a cut at most. */
const CUT_AT_MOST = 3;

/**
 * The text of bytes whose content type declares a character set other than UTF-8 (RFC 9110 8.3.2). `undefined` where none is
 * declared, where browsers do not know it, where the bytes are not valid in it, and where they are plain UTF-8 whatever was declared:
 * senders that say `iso-8859-1` by default send UTF-8 all the same.
 * @param whole false where the bytes end somewhere in the body, perhaps within a character
 */
export function textInCharset(
  bytes: Uint8Array,
  contentType: string | null,
  isUtf8: boolean,
  whole: boolean,
): DecodedText | undefined {
  const charset = mediaType(contentType).parameters.get('charset');
  if (charset === undefined || bytes.length === 0) return undefined;
  const decoder = decoderOf(charset);
  if (decoder === undefined || decoder.encoding === 'utf-8') return undefined;
  if (isUtf8 && !bytes.some((byte) => TELLTALE.has(byte))) return undefined;
  if (imageType(bytes) !== undefined) return undefined;
  for (let cut = 0; cut <= (whole ? 0 : CUT_AT_MOST); cut++) {
    const text = decoded(decoder, bytes.subarray(0, bytes.length - cut));
    if (text !== undefined) return { charset: charset.toLowerCase(), text };
  }
  return undefined;
}

/** `undefined` for a name that the Encoding Standard does not have. */
function decoderOf(charset: string): TextDecoder | undefined {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return undefined;
  }
}

function decoded(decoder: TextDecoder, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
