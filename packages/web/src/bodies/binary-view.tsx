/* oxlint-disable jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable by keyboard */

import { useVirtualizer } from '@tanstack/react-virtual';
import { ImageOff } from 'lucide-react';
import { useRef, useEffect, useLayoutEffect, useState, useMemo } from 'react';
import type { RefObject } from 'react';
import { CopyButton } from '../ui/copy.tsx';
import { EmptyState } from '../ui/feedback.tsx';
import { imageType } from './body-kind.ts';
import { HEX_WIDTH, HEX_WIDTH_NARROW, hexDump, hexLine, hexLineCount } from './view-lines.ts';

/** True if an element is at least `width` CSS pixels wide. Updates when it is resized. */
function useIsAtLeast(element: RefObject<HTMLElement | null>, width: number): boolean {
  const [isWide, setWide] = useState(true);
  // Before the browser paints, because the columns would move.
  useLayoutEffect(() => {
    if (element.current === null) return;
    // oxlint-disable-next-line react/set-state-in-effect -- only the layout knows the width
    setWide(element.current.clientWidth >= width);
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWide(entry.contentRect.width >= width);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, width]);
  return isWide;
}

const LINE_HEIGHT = 20;

/** Width of a line of sixteen bytes, in CSS pixels. */
const FULL_LINE = 600;

/** Maximum number of bytes that can be copied as a hex dump. Longer bodies can be downloaded. */
const MAX_COPY_BYTES = 256 * 1024;

interface HexViewProps {
  readonly bytes: Uint8Array;
  /** Name for screen readers. */
  readonly label: string;
}

/** A hex dump, with sixteen bytes per line if they fit and the printable characters beside them. */
export function HexView({ bytes, label }: HexViewProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useIsAtLeast(frame, FULL_LINE) ? HEX_WIDTH : HEX_WIDTH_NARROW;
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoized on what it returns
  const virtual = useVirtualizer({
    count: hexLineCount(bytes, width),
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  return (
    <div className="relative flex min-h-0 grow flex-col border-t border-line">
      <CopyButton
        text={() => hexDump(bytes.subarray(0, MAX_COPY_BYTES))}
        label={bytes.length > MAX_COPY_BYTES ? 'Copy the first 256 KB as hex' : 'Copy as hex'}
        className="absolute top-1.5 right-3 z-10 @max-sm:static @max-sm:self-end @max-sm:mr-3"
      />
      <div
        ref={frame}
        data-partial={virtual.getVirtualItems().length < virtual.options.count || undefined}
        role="region"
        aria-label={label}
        tabIndex={0}
        className="min-h-0 grow overflow-auto py-2 font-mono text-sm outline-offset-[-2px]"
      >
        <div className="relative min-w-max" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const { offset, hex, text } = hexLine(bytes, index, width);
            return (
              <div
                key={index}
                className="absolute top-0 left-0 flex gap-4 px-4 leading-5 whitespace-pre"
                style={{ transform: `translateY(${start}px)` }}
              >
                <span className="text-ink-3 select-none">{offset}</span>
                <span style={{ width: `${width * 3}ch` }}>{hex}</span>
                <span className="text-json-string">{text}</span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/**
 * A raster image, recognized by its first bytes and not by its content type. SVG is not rendered, because it can
 * contain scripts.
 */
export function ImageView({ bytes }: { readonly bytes: Uint8Array<ArrayBuffer> }) {
  const type = imageType(bytes);
  const address = useMemo(
    () => (type === undefined ? undefined : URL.createObjectURL(new Blob([bytes], { type }))),
    [bytes, type],
  );
  useEffect(() => () => (address === undefined ? undefined : URL.revokeObjectURL(address)), [address]);
  /** The address of an image that the browser could not decode. */
  const [broken, setBroken] = useState<string>();
  if (address === undefined || address === broken) {
    return (
      <EmptyState icon={<ImageOff />} title="This image can't be shown" className="border-t border-line py-10">
        It is incomplete or damaged.
      </EmptyState>
    );
  }
  return (
    <div className="grid min-h-0 grow place-items-center overflow-auto border-t border-line bg-sunk p-4">
      <img
        src={address}
        alt="The captured body"
        onError={() => setBroken(address)}
        className="max-h-full max-w-full object-contain"
      />
    </div>
  );
}
