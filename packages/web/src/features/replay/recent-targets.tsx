import { ChevronDown } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { DropdownMenu, MenuItem } from '../../ui/dropdown-menu.tsx';
import { usePreference } from '../../ui/stored-value.ts';
import { replayTargetsPreference } from './replay-targets.ts';

export interface RecentTargetsProps {
  readonly uid: string;
  readonly url: string;
  readonly onUse: (url: string) => void;
}

/** Recent destinations of this endpoint: the newest as a button, the others in a menu. */
export function RecentTargets({ uid, url, onUse }: RecentTargetsProps) {
  const [targets] = usePreference(replayTargetsPreference);
  const known = targets[uid] ?? [];
  const [newest] = known;
  return (
    <div className="ml-auto flex min-w-0 items-center gap-1">
      {newest === undefined || newest === url.trim() ? null : (
        <button
          type="button"
          title={newest}
          onClick={() => onUse(newest)}
          className="min-w-0 truncate rounded-sm text-sm font-medium text-accent hover:underline"
        >
          Use {newest}
        </button>
      )}
      {known.length < 2 ? null : (
        <DropdownMenu
          trigger={
            <Button variant="ghost" size="sm" className="-my-1 h-6 px-1.5">
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
      )}
    </div>
  );
}
