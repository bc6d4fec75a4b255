import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { formatSize } from '../ui/format.ts';
import type { BodyView, Coding } from './view-body.ts';

/** A note above a body, for example that it was decoded or truncated. */
export function NoteLine({ className, children }: { readonly className?: string; readonly children: ReactNode }) {
  return (
    <div className={clsx('shrink-0 border-b border-line bg-sunk px-4 py-1.5 text-sm text-ink-2', className)}>
      {children}
    </div>
  );
}

interface DecodingNotesProps {
  readonly view: BodyView;
  /** Bytes of the body as received. */
  readonly size: number;
  /** More about the character set. */
  readonly children?: string;
}

/** How a body was decoded: from its content coding, and from its character set. */
export function DecodingNotes({ view: { coding, charset }, size, children }: DecodingNotesProps) {
  return (
    <>
      {coding === undefined ? null : <NoteLine>{codingNote(coding, size)}</NoteLine>}
      {charset === undefined ? null : (
        <NoteLine>
          The text was decoded from {charset}, which its content type declares.{children}
        </NoteLine>
      )}
    </>
  );
}

function codingNote({ name, decodedSize, problem, cut }: Coding, size: number): string {
  if (decodedSize === undefined) return `${problem ?? ''} Shown as it came, ${formatSize(size)}.`;
  return `Decoded from ${name}: ${formatSize(size)} as sent, ${formatSize(decodedSize)}${cut ? ' shown' : ' decoded'}.`;
}
