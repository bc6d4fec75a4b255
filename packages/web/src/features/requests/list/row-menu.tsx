import { Eye, ListChecks, Save, SquareCheck, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import type { ListedRequest } from '../../../api/request-list.ts';
import { ContextMenu, ContextMenuItem } from '../../../ui/context-menu.tsx';
import type { RowActions } from './request-row.tsx';

interface RowMenuProps {
  /** The element with the rows. */
  readonly children: ReactNode;
  readonly requestAt: (index: number) => ListedRequest | undefined;
  readonly marked: ReadonlySet<number>;
  readonly canSave: boolean;
  readonly actions: RowActions;
  readonly onMarkAll: () => void;
}

/** One menu for all rows: right click, or long press on a touch screen, where rows have no buttons. */
export function RowMenu({ children, requestAt, marked, canSave, actions, onMarkAll }: RowMenuProps) {
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
        <ContextMenuItem onSelect={() => actions.onOpen(request)}>
          <Eye /> View details
        </ContextMenuItem>
        <ContextMenuItem onSelect={() => actions.onMark(request, false)}>
          <SquareCheck /> {isMarked ? 'Deselect' : 'Select'}
        </ContextMenuItem>
        <ContextMenuItem onSelect={onMarkAll}>
          <ListChecks /> Select all that match
        </ContextMenuItem>
        {request.saved ? null : (
          <ContextMenuItem disabled={!canSave} onSelect={() => actions.onSave(request)}>
            <Save /> Save
          </ContextMenuItem>
        )}
        <ContextMenuItem destructive onSelect={() => actions.onDelete(request)}>
          <Trash2 /> Delete
        </ContextMenuItem>
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
      <ContextMenu
        label="Request"
        items={items}
        onOpenChange={(open) => {
          if (open) setRequest(pressed.current === undefined ? undefined : requestAt(pressed.current));
        }}
      >
        {children}
      </ContextMenu>
    </div>
  );
}
