import { Save, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import type { MouseEvent, PointerEvent, ReactNode } from 'react';
import type { ListedRequest } from '../../../api/request-list.ts';

/** Pixels. */
const BUTTON_WIDTH = 72;

/** Pixels. A shorter move is a tap, or starts to scroll. */
const MIN_MOVE = 10;

/** The row that is moved to the left, and how far in pixels. */
export interface Swipe {
  readonly index: number;
  readonly offset: number;
  /** False after the finger has left a row whose actions stay uncovered. */
  readonly isMoving: boolean;
}

interface Start {
  readonly x: number;
  readonly y: number;
  readonly index: number;
  readonly offset: number;
  /** How far the row can move. */
  readonly width: number;
}

/** A swipe uncovers the actions of the menu that change something: Delete, and Save if there is one. */
const hasSave = (request: ListedRequest, canSave: boolean): boolean => canSave && !request.saved;

const isAction = (target: EventTarget): boolean =>
  target instanceof Element && target.closest('[data-swipe-actions]') !== null;

/**
 * On a touch screen, a swipe to the left uncovers the actions of a row, and a tap or a swipe back covers them.
 * The handlers belong on the element with the rows.
 */
export function useSwipe(find: (index: number) => ListedRequest | undefined, canSave: boolean) {
  const [swipe, setSwipe] = useState<Swipe>();
  const start = useRef<Start>(undefined);
  /** True after a swipe or a tap that ends one, until the next press. Its click opens no request. */
  const wasGesture = useRef(false);
  const onPointerDown = ({ pointerType, target, clientX: x, clientY: y }: PointerEvent): void => {
    wasGesture.current = false;
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null;
    const index = Number(row?.dataset['index']);
    const request = row === null || pointerType !== 'touch' ? undefined : find(index);
    const offset = swipe?.index === index ? swipe.offset : 0;
    start.current = request && { x, y, index, offset, width: (hasSave(request, canSave) ? 2 : 1) * BUTTON_WIDTH };
  };
  const onPointerMove = ({ clientX, clientY }: PointerEvent): void => {
    if (start.current === undefined) return;
    const { x, y, index, offset, width } = start.current;
    const [right, down] = [clientX - x, clientY - y];
    if (!wasGesture.current) {
      if (Math.abs(down) > MIN_MOVE) start.current = undefined;
      if (Math.abs(down) > MIN_MOVE || Math.abs(right) < MIN_MOVE) return;
    }
    wasGesture.current = true;
    setSwipe({ index, offset: Math.min(0, Math.max(-width, offset + right)), isMoving: true });
  };
  const onPointerUp = ({ target }: PointerEvent): void => {
    const width = start.current?.width ?? 0;
    start.current = undefined;
    if (wasGesture.current) {
      setSwipe((last) => (last && last.offset < -width / 2 ? { ...last, offset: -width, isMoving: false } : undefined));
    } else if (swipe !== undefined && !isAction(target)) {
      wasGesture.current = true;
      setSwipe(undefined);
    }
  };
  const onPointerCancel = (): void => {
    start.current = undefined;
    setSwipe(undefined);
  };
  const onClickCapture = (tap: MouseEvent): void => {
    if (wasGesture.current) tap.stopPropagation();
    // Not before the button has received the press.
    else if (isAction(tap.target)) setTimeout(() => setSwipe(undefined));
  };
  return { swipe, handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel, onClickCapture } };
}

interface SwipeActionsProps {
  readonly request: ListedRequest;
  readonly canSave: boolean;
  readonly onSave: (request: ListedRequest) => void;
  readonly onDelete: (request: ListedRequest) => void;
}

/** The buttons below a row. They are only there during a swipe, because the menu of the row has the same actions. */
export function SwipeActions({ request, canSave, onSave, onDelete }: SwipeActionsProps) {
  return (
    <span role="gridcell" data-swipe-actions className="absolute inset-y-0 right-0 flex">
      {hasSave(request, canSave) ? (
        <SwipeButton className="bg-accent text-accent-ink" onPress={() => onSave(request)}>
          <Save aria-hidden /> Save
        </SwipeButton>
      ) : null}
      <SwipeButton className="bg-bad text-bad-ink" onPress={() => onDelete(request)}>
        <Trash2 aria-hidden /> Delete
      </SwipeButton>
    </span>
  );
}

interface SwipeButtonProps {
  readonly className: string;
  readonly onPress: () => void;
  readonly children: ReactNode;
}

function SwipeButton({ className, onPress, children }: SwipeButtonProps) {
  return (
    <button
      type="button"
      tabIndex={-1}
      style={{ width: BUTTON_WIDTH }}
      onClick={(press) => {
        press.stopPropagation();
        onPress();
      }}
      className={`flex flex-col items-center justify-center text-xs font-medium [&_svg]:size-4 ${className}`}
    >
      {children}
    </button>
  );
}
