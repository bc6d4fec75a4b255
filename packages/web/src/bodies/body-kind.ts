import { parseForm } from './form.ts';
import { mediaType } from './media-type.ts';

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
