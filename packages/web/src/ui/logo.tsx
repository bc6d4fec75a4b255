import { clsx } from 'clsx';
import { ShoppingBasket } from 'lucide-react';

/** The logo and the name. */
export function Logo({ className }: { readonly className?: string }) {
  return (
    <span className={clsx('inline-flex items-center gap-2 text-lg font-semibold tracking-tight', className)}>
      <ShoppingBasket aria-hidden className="size-5 text-accent" />
      Creel
    </span>
  );
}
