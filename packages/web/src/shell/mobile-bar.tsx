import { Link } from '@tanstack/react-router';
import { Menu } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { useState } from 'react';
import type { MouseEvent, ReactNode } from 'react';
import { Logo } from '../ui/page.tsx';

/** Below 768 px: a bar with the slide-in menu, which closes after a choice. */
export function MobileBar({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const closeBehindChoice = ({ target }: MouseEvent): void => {
    if (target instanceof Element && target.closest('a, [data-leaves-menu]') !== null) setOpen(false);
  };
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-2">
      <Radix.Root open={open} onOpenChange={setOpen}>
        <Radix.Trigger
          aria-label="Open menu"
          className="grid size-9 place-items-center rounded-md text-ink-2 hover:bg-sunk hover:text-ink"
        >
          <Menu className="size-5" />
        </Radix.Trigger>
        <Radix.Portal>
          <Radix.Overlay className="fixed inset-0 z-30 bg-veil animate-fade-in" />
          <Radix.Content
            aria-describedby={undefined}
            onClick={closeBehindChoice}
            className="fixed inset-y-0 left-0 z-30 w-72 max-w-[85vw] border-r border-line bg-bg shadow-float outline-none animate-slide-in-left"
          >
            <Radix.Title className="sr-only">Menu</Radix.Title>
            {children}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
      <Link to="/" aria-label="Creel, home" className="rounded-md px-1">
        <Logo />
      </Link>
    </header>
  );
}
