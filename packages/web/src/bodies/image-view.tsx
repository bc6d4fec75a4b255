import { useEffect, useMemo } from 'react';
import { EmptyState } from '../ui/feedback.tsx';
import { imageType } from './body-kind.ts';

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
  if (address === undefined) return <EmptyState title="This is no image that can be shown" className="py-10" />;
  return (
    <div className="grid min-h-0 grow place-items-center overflow-auto border-t border-line bg-sunk p-4">
      <img src={address} alt="The captured body" className="max-h-full max-w-full object-contain" />
    </div>
  );
}
