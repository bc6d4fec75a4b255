import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { formatSize } from '../ui/format.ts';
import type { Coding } from './view-body.ts';

/** A note above a body, for example that it was decoded or truncated. */
export function NoteLine({ className, children }: { readonly className?: string; readonly children: ReactNode }) {
  return (
    <div className={clsx('shrink-0 border-b border-line bg-sunk px-4 py-1.5 text-sm text-ink-2', className)}>
      {children}
    </div>
  );
}

/** Shows the result of decoding a content coding. `size` is the encoded size in bytes. */
export function CodingNote({ coding, size }: { readonly coding: Coding; readonly size: number }) {
  const text =
    coding.decodedSize === undefined
      ? `${coding.problem ?? ''} Shown as it came, ${formatSize(size)}.`
      : `Decoded from ${coding.name}: ${formatSize(size)} as sent, ${formatSize(coding.decodedSize)}${coding.cut ? ' shown' : ' decoded'}.`;
  return <NoteLine>{text}</NoteLine>;
}
