import { PLANS } from '@creel/contract';
import type { User } from '@creel/contract';
import { Link, useLocation } from '@tanstack/react-router';
import { CreditCard, Ellipsis, LogIn, LogOut, Monitor, Moon, Settings, Sun, UserRound } from 'lucide-react';
import { themePreference, THEMES } from '../features/settings/theme.ts';
import { DropdownMenu, MenuChoice, MenuItem, MenuSeparator } from '../ui/dropdown-menu.tsx';
import { usePreference } from '../ui/state.ts';

const THEME_OPTIONS = [
  { value: 'light', label: 'Light', icon: <Sun /> },
  { value: 'dark', label: 'Dark', icon: <Moon /> },
  { value: 'system', label: 'System', icon: <Monitor /> },
] as const;

interface UserMenuProps {
  readonly user: User | null;
  readonly onLogout: () => void;
}

/** The logged-in user, the plan, and the user's menu. */
export function UserMenu({ user, onLogout }: UserMenuProps) {
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
            <span dir="auto" className="block truncate font-semibold">
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
      {user === null ? <SignInItem /> : <SignedInItems onLogout={onLogout} />}
    </DropdownMenu>
  );
}

function SignInItem() {
  const next = useLocation({ select: ({ href }) => href });
  return (
    <MenuItem asChild>
      <Link to="/auth" search={{ next }}>
        <LogIn /> Sign In
      </Link>
    </MenuItem>
  );
}

function SignedInItems({ onLogout }: { readonly onLogout: () => void }) {
  const [theme, setTheme] = usePreference(themePreference);
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
      <MenuChoice
        label="Theme"
        value={theme}
        onValueChange={(value) => setTheme(THEMES.find((known) => known === value) ?? 'system')}
        options={THEME_OPTIONS}
      />
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
