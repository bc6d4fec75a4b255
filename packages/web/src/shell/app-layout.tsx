import { Outlet, useLocation, Link, useRouter } from '@tanstack/react-router';
import { Menu, CloudOff } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { useEffect, useRef, useState } from 'react';
import type { MouseEvent, ReactNode } from 'react';
import { listenToOtherTabs, dismissLoginDialog, useIsLoginDialogOpen } from '../api/session.ts';
import { isLost, useLiveStatus } from '../api/live-feed.ts';
import { useServerBack } from '../api/outage.ts';
import { useFollowedUser, useUser } from '../api/queries.ts';
import { refetchFailedQueries } from '../api/query-client.ts';
import { serverState } from '../api/server-state.ts';
import { LoginForm } from '../features/accounts/login-form.tsx';
import { forgetReplayDrafts } from '../features/replay/replay-drafts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { STAYS_INTERACTIVE, useFocusAfterLeaving } from '../ui/focus.ts';
import { Logo } from '../ui/page.tsx';
import { useIsNarrow, useSignal } from '../ui/state.ts';
import { dismissErrorsAfter, newestToastId } from '../ui/toast-store.ts';
import { loginPage } from '../ui/urls.ts';
import { ShellDialogs } from './dialogs.tsx';
import { PageAnnouncement } from './page-announcement.tsx';
import { Sidebar } from './sidebar.tsx';
import type { LiveStatus } from '../api/live-feed.ts';
import type { ServerState } from '../api/server-state.ts';

/** The layout of all pages that require a login: a sidebar, or a slide-in menu below 768 px. */
export function AppLayout() {
  const narrow = useIsNarrow();
  useEffect(listenToOtherTabs, []);
  useEffect(() => forgetReplayDrafts, []);
  useFollowedUser();
  useFocusAfterLeaving(useLocation({ select: ({ pathname }) => pathname }));
  const message = useConnectionMessage();
  return (
    // What covers the page on a narrow screen leaves room for the message: `Cover` in requests-pane.tsx.
    <div data-disconnected={message === undefined ? undefined : true} className="group/layout flex h-full flex-col">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-panel px-3 py-2 focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <div className="flex min-h-0 grow flex-col md:flex-row">
        {narrow ? (
          <>
            <ConnectionMessage
              text={message}
              className="pointer-events-none fixed top-1 right-2 left-12 z-50 flex justify-center *:rounded-full *:px-3.5 *:py-1 *:shadow-float"
            />
            <MobileBar>
              <Sidebar />
            </MobileBar>
          </>
        ) : (
          <aside
            {...STAYS_INTERACTIVE}
            className="w-58 shrink-0 border-r border-line print:hidden"
            aria-label="Sidebar"
          >
            <Sidebar>
              <ConnectionMessage text={message} className="text-sm *:rounded-md *:px-2.5 *:py-1.5 empty:-mt-3" />
            </Sidebar>
          </aside>
        )}
        <main id="main" tabIndex={-1} className="min-h-0 min-w-0 grow overflow-y-auto outline-offset-[-2px]">
          <Outlet />
        </main>
      </div>
      <PageAnnouncement />
      <ShellDialogs />
      <SignedOutDialog />
    </div>
  );
}

/** Below 768 px: a bar with the slide-in menu, which closes after a choice. */
function MobileBar({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const closeBehindChoice = ({ target }: MouseEvent): void => {
    if (target instanceof Element && target.closest('a, [data-leaves-menu]') !== null) setOpen(false);
  };
  return (
    <header className="flex h-12 shrink-0 print:hidden items-center gap-2 border-b border-line px-2">
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
      <Link to="/" aria-label="Creel, home" className="flex rounded-md px-1">
        <Logo />
      </Link>
    </header>
  );
}

/** After a shorter outage, its error messages stay, because nobody could read them yet. */
const MIN_OUTAGE_MS = 1000;

/**
 * The message about a lost connection, if it is lost. When the server or the live connection is back, all failed queries
 * are loaded again. When both are, the error messages of the outage close.
 */
function useConnectionMessage(): string | undefined {
  const server = useSignal(serverState);
  const live = useLiveStatus();
  useServerBack(refetchFailedQueries);
  const isDown = server !== 'up' || live.state === 'disconnected';
  const before = useRef<{ readonly toastId: number; readonly at: number }>(undefined);
  useEffect(() => {
    if (isDown) before.current ??= { toastId: newestToastId(), at: performance.now() };
    else if (before.current !== undefined) {
      if (performance.now() - before.current.at >= MIN_OUTAGE_MS) dismissErrorsAfter(before.current.toastId);
      before.current = undefined;
      refetchFailedQueries();
    }
  }, [isDown]);
  // The dialog about the ended session says more.
  return useIsLoginDialogOpen() ? undefined : connectionMessage(server, live);
}

interface ConnectionMessageProps {
  readonly text: string | undefined;
  readonly className: string;
}

/**
 * In the sidebar, where it covers nothing and only the list of endpoints gives way. On narrow screens it floats beside
 * the menu button.
 */
function ConnectionMessage({ text, className }: ConnectionMessageProps) {
  return (
    // Radix hides the page behind a dialog from screen readers, except elements with `aria-live`. Without it, the message
    // would be announced only after the dialog.
    <div role="status" aria-live="polite" className={className}>
      {text === undefined ? null : (
        <p className="flex items-center gap-2 border border-warn bg-warn-soft text-warn">
          <CloudOff aria-hidden className="size-4 shrink-0" />
          {text}
        </p>
      )}
    </div>
  );
}

/** Shown when the session has ended. Everything behind this dialog stays as it is, including unsent input. */
function SignedOutDialog() {
  const asks = useIsLoginDialogOpen();
  const user = useUser();
  const router = useRouter();
  const next = router.state.location.href;
  if (!asks) return null;
  return (
    <Dialog
      onClose={dismissLoginDialog}
      title="You have been logged out"
      description="Your session has ended. Log in again to continue. Unsaved input on this page is kept."
    >
      <LoginForm username={user?.username ?? ''} onSignedIn={() => void router.invalidate()} />
      <Button asChild variant="ghost" className="mt-3 w-full">
        <Link {...loginPage(next)}>Go to the login page instead</Link>
      </Button>
    </Dialog>
  );
}

const SERVER_MESSAGES: Record<ServerState, string | undefined> = {
  up: undefined,
  unreachable: "Can't reach the server. Reconnecting…",
  unavailable: "The server can't load data now. Trying again…",
};

/** The message about the connection; `undefined` if there is none. `live` is the page's connection, if it has one. */
export function connectionMessage(server: ServerState, live: Pick<LiveStatus, 'state'>): string | undefined {
  if (isLost(live)) return 'Not connected to real-time updates. Refresh the page to reconnect.';
  return SERVER_MESSAGES[server];
}
