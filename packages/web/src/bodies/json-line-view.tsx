import { clsx } from 'clsx';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo, useMemo } from 'react';
import type { ReactNode } from 'react';
import { formatCount } from '../ui/format.ts';
import { embeddedAt } from './embedded-value.ts';
import { KIND, lineOf } from './json-lines.ts';
import type { JsonLine, JsonLines, JsonMatch } from './json-lines.ts';
import { MarkedText } from './marked-text.tsx';

export const LINE_HEIGHT = 20;

/** Maximum indentation. Deeper levels would leave the view. */
const MAX_INDENT = 40;

/** Maximum number of characters of a scalar that are shown. Copying copies all of it. */
const MAX_SHOWN = 4000;

const COLORS: Partial<Record<number, string>> = {
  [KIND.string]: 'text-json-string',
  [KIND.number]: 'text-json-number',
  [KIND.word]: 'text-json-word',
};

/** Isolates right-to-left text (UAX #9), so that key, colon and value stay in order. */
const ISOLATED = '[unicode-bidi:isolate]';

/** The marks beside values that can be opened. */
const EMBEDDED_LABELS = { json: 'JSON', jwt: 'JWT', base64: 'Base64', time: 'Time' } as const;

/** The id of a line's element. `view` distinguishes several views on one page. */
export const lineId = (view: string, line: number): string => `${view}-${line}`;

interface JsonLineViewProps {
  readonly view: string;
  readonly json: JsonLines;
  readonly line: number;
  readonly active: boolean;
  readonly folded: boolean;
  readonly matches: readonly (JsonMatch & { readonly ordinal: number })[];
  readonly current: number;
  /** The content of the value, if it is opened. */
  readonly children?: ReactNode;
}

/** One line of JSON: number, fold button, key, value, and the opened content of the value. */
export const JsonLineView = memo(function JsonLineView({
  view,
  json,
  line,
  active,
  folded,
  matches,
  current,
  children,
}: JsonLineViewProps) {
  const shown = lineOf(json, line);
  const embedded = useMemo(() => embeddedAt(json, line), [json, line]);
  const isOpen = foldState(shown, folded, embedded !== undefined, children);
  const { key, keyStart, depth, foldsTo } = shown;
  const comma = folded && foldsTo !== undefined ? lineOf(json, foldsTo).comma : shown.comma;
  const hasValue = shown.kind !== KIND.closeObject && shown.kind !== KIND.closeArray;
  const marks = { found: matches, firstOrdinal: matches[0]?.ordinal ?? 0, current };
  return (
    <div
      id={lineId(view, line)}
      role="treeitem"
      aria-level={depth + 1}
      data-active={active || undefined}
      aria-expanded={isOpen}
      className="leading-5"
    >
      {/* Without the opened content, which may have lines of its own. */}
      <div
        className={clsx('group/line relative flex min-h-5 hover:bg-sunk', active && 'group-focus-visible/tree:bg-sunk')}
      >
        <span aria-hidden className="w-10 shrink-0 pr-1 text-right text-ink-3 select-none">
          {line + 1}
        </span>
        <span className="w-5 shrink-0 select-none">
          {isOpen === undefined ? null : (
            <span
              data-do={foldsTo === undefined ? 'open' : 'fold'}
              data-line={line}
              aria-hidden
              className="grid size-5 place-items-center text-ink-3 hover:text-ink [&_svg]:size-3"
            >
              {isOpen ? <ChevronDown /> : <ChevronRight />}
            </span>
          )}
        </span>
        <span
          className="min-w-0 grow pr-4 wrap-anywhere whitespace-pre-wrap"
          style={{ paddingLeft: `${Math.min(depth, MAX_INDENT) * 2}ch` }}
        >
          {key === undefined ? null : (
            <>
              <span
                data-do="path"
                data-line={line}
                title="Copy path"
                className={clsx(ISOLATED, 'cursor-copy text-json-key hover:underline')}
              >
                <MarkedText text={key} offset={keyStart} {...marks} />
              </span>
              {': '}
            </>
          )}
          <Value shown={shown} folded={folded} hasValue={hasValue} marks={marks} />
          {comma ? ',' : ''}
          {embedded === undefined ? null : (
            <span
              data-do="open"
              data-line={line}
              title={isOpen === true ? 'Close' : `Open: ${EMBEDDED_LABELS[embedded.kind]}`}
              className="ml-2 whitespace-nowrap rounded-sm bg-sunk px-1 font-sans text-xs text-ink-2 select-none hover:text-ink group-hover/line:bg-bg"
            >
              {EMBEDDED_LABELS[embedded.kind]}
            </span>
          )}
        </span>
        {hasValue ? <CopyActions line={line} /> : null}
      </div>
      {children}
    </div>
  );
});

/** Whether a line is expanded; `undefined` if it can't be. */
function foldState(shown: JsonLine, folded: boolean, canOpen: boolean, content: ReactNode): boolean | undefined {
  if (shown.foldsTo !== undefined) return !folded;
  return canOpen ? content !== undefined && content !== null : undefined;
}

const COPY_ACTION = 'cursor-copy rounded-sm px-1 hover:bg-panel hover:text-ink';

/**
 * Copies the value or its path, while the pointer is on the line. The words are generated content, so that they are
 * not part of a selection. By keyboard, Enter and Shift+Enter do the same.
 */
function CopyActions({ line }: { readonly line: number }) {
  return (
    <span
      aria-hidden
      className="absolute top-0 right-2 hidden bg-sunk pl-2 font-sans text-xs leading-5 text-ink-2 group-hover/line:block"
    >
      <span data-do="value" data-line={line} className={`${COPY_ACTION} before:content-['Copy_value']`} />
      <span data-do="path" data-line={line} className={`${COPY_ACTION} before:content-['Copy_path']`} />
    </span>
  );
}

interface ValueProps {
  readonly shown: JsonLine;
  readonly folded: boolean;
  /** False for a closing bracket. */
  readonly hasValue: boolean;
  readonly marks: { readonly found: readonly JsonMatch[]; readonly firstOrdinal: number; readonly current: number };
}

function Value({ shown, folded, hasValue, marks }: ValueProps) {
  const { kind, text, line, size, start } = shown;
  if (folded) {
    const [open, close] = kind === KIND.openObject ? ['{', '}'] : ['[', ']'];
    const unit = kind === KIND.openObject ? (size === 1 ? 'key' : 'keys') : size === 1 ? 'item' : 'items';
    return (
      <span data-do="fold" data-line={line} className="rounded-sm bg-sunk px-1 text-ink-2 hover:text-ink">
        {open} {size} {unit} {close}
      </span>
    );
  }
  const scalar = kind <= KIND.word;
  return (
    <span
      data-do={hasValue ? 'value' : undefined}
      data-line={line}
      title={hasValue ? 'Copy value' : undefined}
      className={clsx(ISOLATED, COLORS[kind] ?? 'text-ink', hasValue && 'cursor-copy hover:underline')}
    >
      {scalar ? <MarkedText text={text.slice(0, MAX_SHOWN)} offset={start} {...marks} /> : text}
      {text.length > MAX_SHOWN ? (
        <span className="text-ink-3"> … {formatCount(text.length - MAX_SHOWN)} more characters</span>
      ) : null}
    </span>
  );
}
