import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useSignedOut, listenToOtherTabs } from '../api/connection.ts';
import { useUser } from '../api/queries.ts';
import { clearUserCache, useLogout } from '../features/accounts/account-queries.ts';
import { STAYS_INTERACTIVE, useFocusAfterLeaving, useFocusKept } from '../ui/focus.ts';
import { useIsNarrow } from '../ui/state.ts';
import { ConnectionBar } from './connection-bar.tsx';
import { ShellDialogs } from './dialogs.tsx';
import { MobileBar } from './mobile-bar.tsx';
import { Sidebar } from './sidebar.tsx';
import { SignedOutDialog } from './signed-out-dialog.tsx';

/** The layout of all pages that require a login: a sidebar, or a slide-in menu below 768 px. */
export function AppLayout() {
  const user = useUser();
  const signedOut = useSignedOut();
  const narrow = useIsNarrow();
  const onLogout = useLeave();
  useEffect(listenToOtherTabs, []);
  const main = useRef<HTMLElement>(null);
  useFocusKept(main);
  useFocusAfterLeaving(useLocation({ select: ({ pathname }) => pathname }));
  return (
    <div className="flex h-full flex-col">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-panel px-3 py-2 focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <ConnectionBar />
      <div className="flex min-h-0 grow flex-col md:flex-row">
        {narrow ? (
          <MobileBar>
            <Sidebar user={user} signedOut={signedOut} onLogout={onLogout} />
          </MobileBar>
        ) : (
          <aside {...STAYS_INTERACTIVE} className="w-58 shrink-0 border-r border-line" aria-label="Sidebar">
            <Sidebar user={user} signedOut={signedOut} onLogout={onLogout} />
          </aside>
        )}
        <main ref={main} id="main" tabIndex={-1} className="min-h-0 min-w-0 grow overflow-y-auto outline-none">
          <Outlet />
        </main>
      </div>
      <ShellDialogs />
      <SignedOutDialog />
    </div>
  );
}

/** Logs out, clears the user's data and opens the login page. */
function useLeave(): () => void {
  const logout = useLogout();
  const navigate = useNavigate();
  return () =>
    logout.mutate(undefined, {
      onSuccess: async () => {
        await navigate({ to: '/auth' });
        clearUserCache();
      },
    });
}
