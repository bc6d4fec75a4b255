import { useEffect, useMemo } from 'react';
import { imageType } from '../../../bodies/body-kind.ts';
import { EmptyState } from '../../../ui/empty-state.tsx';

/**
 * A raster image, by its own first bytes and never by what it says it is: SVG and everything else that could run or load something
 * is not drawn (hardening S5).
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
