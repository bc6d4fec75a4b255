import { ExternalLink, Eye, ListChecks, Save, SquareCheck, Trash2 } from 'lucide-react';
import { ContextMenu as Radix } from 'radix-ui';
import { useRef, useState } from 'react';
import type { ComponentProps, ReactNode } from 'react';
import type { ListedRequest } from '../../../api/request-list.ts';
import { actionClasses, MENU } from '../../../ui/dropdown-menu.tsx';
import type { StableActions } from '../use-request-actions.ts';

interface RowMenuProps {
  /** The element with the rows, which accepts a ref. */
  readonly children: ReactNode;
  readonly find: (index: number) => ListedRequest | undefined;
  readonly marked: ReadonlySet<number>;
  readonly canSave: boolean;
  readonly actions: StableActions;
  readonly onMarkAll: () => void;
}

/** Opens the menu of a row below its beginning, as a right click would. Returns false if there is no such row. */
export function openRowMenu(row: HTMLElement | null): boolean {
  if (row === null) return false;
  const { left, bottom } = row.getBoundingClientRect();
  row.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: left, clientY: bottom }));
  return true;
}

/** One menu for all rows: right click, or long press on a touch screen, where rows have no buttons. */
export function RowMenu({ children, find, marked, canSave, actions, onMarkAll }: RowMenuProps) {
  const pressed = useRef<number>(undefined);
  const [request, setRequest] = useState<ListedRequest>();
  const remember = (target: EventTarget): void => {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null;
    pressed.current = row === null ? undefined : Number(row.dataset['index']);
  };
  const isMarked = request !== undefined && marked.has(request.index);
  const items =
    request === undefined ? null : (
      <>
        <Item onSelect={() => actions.onOpen(request)}>
          <Eye /> View details
        </Item>
        <Item onSelect={() => actions.onOpenInTab(request)}>
          <ExternalLink /> Open in new tab
        </Item>
        <Item onSelect={() => actions.onMark(request, false)}>
          <SquareCheck /> {isMarked ? 'Deselect' : 'Select'}
        </Item>
        <Item onSelect={onMarkAll}>
          <ListChecks /> Select all that match
        </Item>
        {request.saved ? null : (
          <Item disabled={!canSave} onSelect={() => actions.onSave(request)}>
            <Save /> Save
          </Item>
        )}
        <Item destructive onSelect={() => actions.onDelete(request)}>
          <Trash2 /> Delete
        </Item>
      </>
    );
  return (
    <div
      className="contents"
      onPointerDownCapture={({ target }) => remember(target)}
      onContextMenuCapture={(press) => {
        remember(press.target);
        // No menu for what is not a request.
        if (pressed.current === undefined) press.stopPropagation();
      }}
    >
      <Radix.Root
        onOpenChange={(open) => {
          if (open) setRequest(pressed.current === undefined ? undefined : find(pressed.current));
        }}
      >
        <Radix.Trigger asChild>{children}</Radix.Trigger>
        <Radix.Portal>
          <Radix.Content aria-label="Request" collisionPadding={8} className={MENU}>
            {items}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </div>
  );
}

interface ItemProps extends ComponentProps<typeof Radix.Item> {
  readonly destructive?: boolean;
}

const Item = ({ destructive = false, ...item }: ItemProps) => (
  <Radix.Item {...item} className={actionClasses(destructive)} />
);
