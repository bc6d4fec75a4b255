import { ChevronDown } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { DropdownMenu, MenuItem } from '../../ui/dropdown-menu.tsx';
import { usePreference } from '../../ui/state.ts';
import { replayTargetsPreference } from './replay-targets.ts';

interface RecentTargetsProps {
  readonly uid: string;
  readonly url: string;
  readonly onUse: (url: string) => void;
}

/** A menu of the recent destinations of this endpoint, newest first. */
export function RecentTargets({ uid, url, onUse }: RecentTargetsProps) {
  const [targets] = usePreference(replayTargetsPreference);
  const known = targets[uid] ?? [];
  if (known.every((target) => target === url.trim())) return null;
  return (
    <DropdownMenu
      trigger={
        <Button variant="ghost" size="sm" className="-my-1 ml-auto h-6 px-1.5">
          Recent <ChevronDown />
        </Button>
      }
    >
      {known.map((target) => (
        <MenuItem key={target} onSelect={() => onUse(target)}>
          <span title={target} className="max-w-[min(28rem,70vw)] truncate font-mono text-sm">
            {target}
          </span>
        </MenuItem>
      ))}
    </DropdownMenu>
  );
}
