import { clsx } from 'clsx';
import { Kbd } from '../ui/button.tsx';
import { useAllCommands, showKeys } from '../ui/commands.ts';
import type { Command } from '../ui/commands.ts';
import { Dialog } from '../ui/dialog.tsx';

interface HelpOverlayProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** All keyboard shortcuts of the current page. */
export function HelpOverlay({ open, onOpenChange }: HelpOverlayProps) {
  const commands = useAllCommands();
  const groups = [...Map.groupBy(lastOfEach(commands.filter(hasKeys)), (command) => command.group)];
  const hasTwoColumns = groups.length > 1;
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      width={hasTwoColumns ? 'md' : 'sm'}
      title="Keyboard shortcuts"
      description="Shortcuts are off while you type."
    >
      <div className={clsx('gap-x-8', hasTwoColumns && 'sm:columns-2')}>
        {groups.map(([group, members]) => (
          <section key={group} className="mb-5 break-inside-avoid">
            <h3 className="mb-1.5 text-sm font-medium text-ink-2">{group}</h3>
            <dl className="flex flex-col gap-1.5">
              {members.map((command) => (
                <div key={command.id} className="flex items-center justify-between gap-4">
                  <dt>{command.title}</dt>
                  <dd>
                    <Kbd isRead>{showKeys(command.keys)}</Kbd>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

type Keyed = Command & { readonly keys: string };

function hasKeys(command: Command): command is Keyed {
  return command.keys !== undefined;
}

/** If several commands have the same key, only the last one handles it. */
function lastOfEach(commands: readonly Keyed[]): Keyed[] {
  return [...new Map(commands.map((command) => [command.keys, command])).values()];
}
