import { Download } from 'lucide-react';
import { useMemo } from 'react';
import { ImageView } from '../../../bodies/binary-view.tsx';
import { imageType } from '../../../bodies/body-kind.ts';
import { textOf } from '../../../bodies/encoding.ts';
import { parseMultipart, safeFileName } from '../../../bodies/multipart.ts';
import type { MultipartPart } from '../../../bodies/multipart.ts';
import { Button } from '../../../ui/button.tsx';
import { formatSize } from '../../../ui/format.ts';
import { download } from './download.ts';

/** Maximum of characters of a part that are shown. */
const TEXT_SHOWN = 2000;

interface MultipartPartsProps {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string | null;
}

/** The parts of a multipart body: name, file name, type, size, content, and a download button. */
export function MultipartParts({ bytes, contentType }: MultipartPartsProps) {
  const parts = useMemo(() => parseMultipart(bytes, contentType), [bytes, contentType]);
  if (parts === undefined) {
    return <p className="p-4 text-ink-2">The body does not contain the parts that its content type declares.</p>;
  }
  return (
    <ul className="min-h-0 grow overflow-auto border-t border-line">
      {parts.map((part, place) => (
        <li key={place} className="border-b border-line px-4 py-2.5">
          <PartHeader part={part} place={place} />
          <PartContent part={part} />
        </li>
      ))}
    </ul>
  );
}

function PartHeader({ part, place }: { readonly part: MultipartPart; readonly place: number }) {
  const fallback = `part-${place + 1}.bin`;
  return (
    <div className="flex min-w-0 items-center gap-3">
      <div className="flex min-w-0 grow flex-wrap items-baseline gap-x-3 font-mono text-sm">
        <span className="wrap-anywhere">{part.name === '' ? `Part ${place + 1}` : part.name}</span>
        {part.filename === undefined ? null : <span className="wrap-anywhere text-ink-2">{part.filename}</span>}
        {part.contentType === undefined ? null : <span className="wrap-anywhere text-ink-3">{part.contentType}</span>}
        <span className="text-ink-3">{formatSize(part.bytes.length)}</span>
      </div>
      <Button
        size="sm"
        aria-label={`Download ${part.filename ?? part.name}`}
        onClick={() => download([part.bytes.slice()], safeFileName(part.filename, fallback))}
      >
        <Download /> Download
      </Button>
    </div>
  );
}

function PartContent({ part }: { readonly part: MultipartPart }) {
  if (imageType(part.bytes) !== undefined) {
    return (
      <div className="mt-2 flex max-h-56 flex-col overflow-hidden rounded-md border border-line">
        <ImageView bytes={part.bytes} />
      </div>
    );
  }
  const text = textOf(part.bytes);
  if (text === undefined || text === '' || text.includes('\0')) return null;
  return (
    <pre className="mt-1 max-h-48 overflow-auto text-sm wrap-anywhere whitespace-pre-wrap">
      {text.slice(0, TEXT_SHOWN)}
      {text.length > TEXT_SHOWN ? ' …' : ''}
    </pre>
  );
}
