import { imageType } from './body-kind.ts';
import { mediaType } from './media-type.ts';

/** A text and the name of the character set that it was decoded from. */
interface DecodedText {
  readonly charset: string;
  readonly text: string;
}

/** NUL and ESC. Plain text does not contain them; 16-bit and stateful character sets do. */
const TELLTALE = new Set([0x00, 0x1b]);

/** Maximum of bytes before a cut at which an incomplete character can start. */
const CUT_AT_MOST = 3;

/**
 * Decodes a body whose content type declares a character set other than UTF-8 (RFC 9110, section 8.3.2). `undefined`
 * if none is declared, the browser does not know it, or the bytes are not valid in it. Also `undefined` for bytes that
 * are valid UTF-8, because many senders declare `iso-8859-1` and send UTF-8.
 * @param whole false if the bytes may end within a character
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

/** The decoder for a label of the Encoding Standard; `undefined` for other names. */
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
