import { PLANS } from '@creel/contract';
import type { User } from '@creel/contract';
import { Link, useLocation } from '@tanstack/react-router';
import { CircleHelp, CreditCard, Plus, Search, Settings, Ellipsis, LogIn, LogOut, UserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useUser } from '../api/queries.ts';
import { useSignedOut } from '../api/session.ts';
import { useLogout } from '../features/accounts/login-mutations.ts';
import { THEMES, themePreference } from '../features/settings/theme.tsx';
import { Button, Kbd } from '../ui/button.tsx';
import { COMMAND_IDS, runCommand, useAllCommands } from '../ui/commands.ts';
import { DropdownMenu, MenuChoice, MenuItem, MenuSeparator } from '../ui/dropdown-menu.tsx';
import { Logo } from '../ui/page.tsx';
import { useSignal } from '../ui/state.ts';
import { loginPage } from '../ui/urls.ts';
import { EndpointList } from './endpoint-list.tsx';

interface SidebarProps {
  /** Below the endpoints. */
  readonly children?: ReactNode;
}

/** Home, Create Endpoint, the endpoints, Search, Settings, Subscription, the shortcuts, and the user menu. */
export function Sidebar({ children }: SidebarProps) {
  const user = useUser();
  const signedOut = useSignedOut();
  return (
    // In a low window, such as that of a phone on its side, all of it scrolls.
    <div className="flex h-full min-h-0 flex-col gap-3 overflow-y-auto p-2.5">
      <Link to="/" className="self-start rounded-md px-2 pt-1.5 pb-0.5" aria-label="Creel, home">
        <Logo />
      </Link>
      <Button variant="primary" data-leaves-menu onClick={() => runCommand(COMMAND_IDS.newEndpoint)}>
        <Plus /> Create Endpoint
      </Button>
      <nav aria-label="Endpoints" className="flex min-h-30 grow flex-col pt-1">
        <EndpointList tier={user?.subscriptionTier ?? 'FREE'} />
      </nav>
      {children}
      <nav aria-label="Creel" className="flex flex-col gap-0.5">
        <SearchLink />
        <NavLink to="/settings" icon={<Settings />} label="Settings" />
        <NavLink to="/subscription" icon={<CreditCard />} label="Subscription" />
        <HelpButton />
      </nav>
      <div className="border-t border-line pt-2">
        <UserMenu user={signedOut ? null : user} />
      </div>
    </div>
  );
}

/** Shows its shortcut, except on an endpoint page, where the same key filters the list. */
function SearchLink() {
  const onSlash = useAllCommands().findLast(({ keys }) => keys === '/');
  const keys = onSlash?.id === COMMAND_IDS.search ? '/' : undefined;
  return <NavLink to="/search" icon={<Search />} label="Search" keys={keys} />;
}

/** The look of a link or a button in the lower part of the sidebar. */
const NAV_ITEM =
  'flex h-8 items-center gap-2.5 rounded-md px-2 text-ink-2 transition-colors duration-100 hover:bg-sunk hover:text-ink aria-[current=page]:bg-selected aria-[current=page]:text-ink [&_svg]:size-4';

function HelpButton() {
  return (
    <button type="button" data-leaves-menu className={NAV_ITEM} onClick={() => runCommand(COMMAND_IDS.help)}>
      <CircleHelp />
      Keyboard shortcuts
      <Kbd className="ml-auto pointer-coarse:hidden">?</Kbd>
    </button>
  );
}

interface NavLinkProps {
  readonly to: '/search' | '/settings' | '/subscription';
  readonly icon: ReactNode;
  readonly label: string;
  readonly keys?: string | undefined;
}

function NavLink({ to, icon, label, keys }: NavLinkProps) {
  return (
    <Link to={to} className={NAV_ITEM}>
      {icon}
      {label}
      {keys === undefined ? null : <Kbd className="ml-auto pointer-coarse:hidden">{keys}</Kbd>}
    </Link>
  );
}

/** The logged-in user, the plan, and the user's menu. */
function UserMenu({ user }: { readonly user: User | null }) {
  const logout = useLogout();
  return (
    <DropdownMenu
      side="top"
      align="start"
      trigger={
        <button
          type="button"
          aria-label={user === null ? 'Account' : `Account of ${user.username}`}
          className="flex w-full items-center gap-2.5 rounded-md p-2 text-start transition-colors duration-100 hover:bg-sunk data-[state=open]:bg-sunk"
        >
          <span
            aria-hidden
            className="grid size-7 shrink-0 place-items-center rounded-md bg-accent-soft font-semibold text-accent"
          >
            {user === null ? '?' : firstLetter(user.username)}
          </span>
          <span className="min-w-0 grow">
            <span dir="auto" className="block truncate text-left font-semibold">
              {user === null ? 'Not logged in' : user.username}
            </span>
            {user === null ? null : (
              <span className="block truncate text-xs text-ink-2">{PLANS[user.subscriptionTier].label}</span>
            )}
          </span>
          <Ellipsis aria-hidden className="size-4 shrink-0 text-ink-2" />
        </button>
      }
    >
      {user === null ? <SignInItem /> : <SignedInItems onLogout={() => logout.mutate()} />}
    </DropdownMenu>
  );
}

function SignInItem() {
  const next = useLocation({ select: ({ href }) => href });
  return (
    <MenuItem asChild>
      <Link {...loginPage(next)}>
        <LogIn /> Sign In
      </Link>
    </MenuItem>
  );
}

function SignedInItems({ onLogout }: { readonly onLogout: () => void }) {
  const theme = useSignal(themePreference);
  return (
    <>
      <MenuItem asChild>
        <Link to="/profile">
          <UserRound /> Profile
        </Link>
      </MenuItem>
      <MenuItem asChild>
        <Link to="/subscription">
          <CreditCard /> Manage Subscription
        </Link>
      </MenuItem>
      <MenuItem asChild>
        <Link to="/settings">
          <Settings /> Settings
        </Link>
      </MenuItem>
      <MenuSeparator />
      <MenuChoice label="Theme" value={theme} onChange={themePreference.set} options={THEMES} />
      <MenuSeparator />
      <MenuItem onSelect={onLogout}>
        <LogOut /> Logout
      </MenuItem>
    </>
  );
}

/** The first grapheme: an emoji may have several code points. */
function firstLetter(username: string): string {
  const [first] = new Intl.Segmenter().segment(username);
  return first?.segment.toUpperCase() ?? '?';
}
