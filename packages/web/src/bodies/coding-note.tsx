import { formatSize } from '../ui/sizes.ts';
import { NoteLine } from './note-line.tsx';
import type { Coding } from './view-body.ts';

/** Shows the result of decoding a content coding. `size` is the encoded size in bytes. */
export function CodingNote({ coding, size }: { readonly coding: Coding; readonly size: number }) {
  const text =
    coding.decodedSize === undefined
      ? `${coding.problem ?? ''} Shown as it came, ${formatSize(size)}.`
      : `Decoded from ${coding.name}: ${formatSize(size)} as sent, ${formatSize(coding.decodedSize)}${coding.cut ? ' shown' : ' decoded'}.`;
  return <NoteLine>{text}</NoteLine>;
}
