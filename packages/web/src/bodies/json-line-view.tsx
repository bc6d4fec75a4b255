import { clsx } from 'clsx';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo } from 'react';
import { escapeBidiControls } from './bidi.ts';
import { KIND, lineOf } from './json-lines.ts';
import type { JsonLine, JsonLines } from './json-lines.ts';
import { MarkedText } from './marked-text.tsx';
import type { JsonMatch } from './search-json.ts';

export const LINE_HEIGHT = 20;

/** Maximum indentation. Deeper levels would leave the view. */
const MAX_INDENT = 40;

/** Maximum of characters of a scalar that are shown. Copying copies all of it. */
const MAX_SHOWN = 4000;

const COLORS: Partial<Record<number, string>> = {
  [KIND.string]: 'text-json-string',
  [KIND.number]: 'text-json-number',
  [KIND.word]: 'text-json-word',
};

/** Isolates right-to-left text (UAX #9), so that key, colon and value stay in order. */
const ISOLATED = '[unicode-bidi:isolate]';

/** The id of a line's element. `view` distinguishes several views on one page. */
export const lineId = (view: string, line: number): string => `${view}-${line}`;

export interface JsonLineViewProps {
  readonly view: string;
  readonly json: JsonLines;
  readonly line: number;
  readonly active: boolean;
  readonly folded: boolean;
  readonly matches: readonly (JsonMatch & { readonly place: number })[];
  readonly current: number;
}

/** One line of JSON: number, fold button, key and value. */
export const JsonLineView = memo(function JsonLineView({
  view,
  json,
  line,
  active,
  folded,
  matches,
  current,
}: JsonLineViewProps) {
  const shown = lineOf(json, line);
  const { key, keyStart, depth, foldsTo } = shown;
  const comma = folded && foldsTo !== undefined ? lineOf(json, foldsTo).comma : shown.comma;
  const marks = { found: matches, firstPlace: matches[0]?.place ?? 0, current };
  return (
    <div
      id={lineId(view, line)}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={active}
      aria-expanded={foldsTo === undefined ? undefined : !folded}
      className="flex min-h-5 leading-5 hover:bg-sunk group-focus-visible/tree:aria-selected:bg-sunk"
    >
      <span aria-hidden className="w-10 shrink-0 pr-1 text-right text-ink-3 select-none">
        {line + 1}
      </span>
      <span className="w-5 shrink-0 select-none">
        {foldsTo === undefined ? null : (
          <span
            data-do="fold"
            data-line={line}
            aria-hidden
            className="grid size-5 place-items-center text-ink-3 hover:text-ink [&_svg]:size-3"
          >
            {folded ? <ChevronRight /> : <ChevronDown />}
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
              <MarkedText text={key} offset={keyStart} write={escapeBidiControls} {...marks} />
            </span>
            {': '}
          </>
        )}
        <Value shown={shown} folded={folded} marks={marks} />
        {comma ? ',' : ''}
      </span>
    </div>
  );
});

interface ValueProps {
  readonly shown: JsonLine;
  readonly folded: boolean;
  readonly marks: { readonly found: readonly JsonMatch[]; readonly firstPlace: number; readonly current: number };
}

function Value({ shown, folded, marks }: ValueProps) {
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
  const copies = kind !== KIND.closeObject && kind !== KIND.closeArray;
  const scalar = kind <= KIND.word;
  return (
    <span
      data-do={copies ? 'value' : undefined}
      data-line={line}
      title={copies ? 'Copy value' : undefined}
      className={clsx(ISOLATED, COLORS[kind] ?? 'text-ink', copies && 'cursor-copy hover:underline')}
    >
      {scalar ? (
        <MarkedText text={text.slice(0, MAX_SHOWN)} offset={start} write={escapeBidiControls} {...marks} />
      ) : (
        text
      )}
      {text.length > MAX_SHOWN ? (
        <span className="text-ink-3"> … {(text.length - MAX_SHOWN).toLocaleString('en-US')} more characters</span>
      ) : null}
    </span>
  );
}
