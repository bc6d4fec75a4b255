import { useVirtualizer } from '@tanstack/react-virtual';
import type { Virtualizer } from '@tanstack/react-virtual';
import { useEffect, useId, useMemo, useRef, useState, useDeferredValue } from 'react';
import type { KeyboardEvent, MouseEvent, ReactNode } from 'react';
import { useCommands } from '../ui/commands.ts';
import { copyWithToast } from '../ui/copy.tsx';
import { formatCount, formatInstant } from '../ui/format.ts';
import { toggled } from '../ui/state.ts';
import { HexView, ImageView } from './binary-view.tsx';
import { imageType } from './body-kind.ts';
import { embeddedAt } from './embedded-value.ts';
import type { Embedded } from './embedded-value.ts';
import { FindBar, useSteps } from './find-bar.tsx';
import type { Find } from './find-bar.tsx';
import { firstPosition } from './first-position.ts';
import { formatJson } from './format-json.ts';
import { JsonLineView, LINE_HEIGHT, lineId } from './json-line-view.tsx';
import { lineOf, pathOf, valueToCopy, visibleLines, CELL, cellOf, linesAround, searchJson } from './json-lines.ts';
import type { JsonLines, JsonMatch } from './json-lines.ts';
import { NoteLine } from './note-line.tsx';
import { TextView } from './text-view.tsx';

const PAGE = 20;

/** The line that a key press moves to from a position among the visible lines; `undefined` for other keys. */
function nextVisible(lines: Uint32Array, at: number, key: string): number | undefined {
  const last = lines.length - 1;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + PAGE, PageUp: at - PAGE, Home: 0, End: last }[key];
  return to === undefined ? undefined : lines[Math.max(0, Math.min(last, to))];
}

/** All lines that can be folded, except the outermost. */
function foldable(json: JsonLines): Set<number> {
  const all = new Set<number>();
  for (let line = 1; line < json.count; line++) if (cellOf(json, line, CELL.fold) >= 0) all.add(line);
  return all;
}

/** Maximum number of lines that are rendered without virtualization, so that the browser's own selection and search work. */
const MAX_PLAIN_LINES = 400;

const NO_MATCHES: readonly never[] = [];

interface JsonViewProps {
  readonly json: JsonLines;
  /** Name for screen readers. */
  readonly label: string;
  readonly matches?: readonly JsonMatch[];
  /** The current match, from 0. */
  readonly current?: number;
  /** Offers the commands to fold and unfold everything. Only one view on a page can offer them. */
  readonly hasCommands?: boolean;
}

/**
 * Formatted JSON that can be folded. Values that contain JSON, a token, base64 or a time open in place. A click copies
 * a value or its path; the keyboard works as in a tree view.
 */
export function JsonView({ json, label, matches = NO_MATCHES, current = 0, hasCommands = false }: JsonViewProps) {
  const view = useId();
  const frame = useRef<HTMLDivElement>(null);
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [chosen, setActive] = useState(0);
  const lines = useMemo(() => visibleLines(json, folded), [json, folded]);
  /** The position of a line among the visible ones; of the line that is folded around it if it is hidden. */
  const positionOf = (line: number): number => firstPosition(lines.length, (at) => (lines[at] ?? 0) > line) - 1;
  const active = lines[positionOf(chosen)] ?? 0;
  const byLine = useMemo(
    () =>
      Map.groupBy(
        matches.map((match, ordinal) => ({ ...match, ordinal })),
        (match) => match.line,
      ),
    [matches],
  );
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
    scrollPaddingStart: 2 * LINE_HEIGHT,
    scrollPaddingEnd: 2 * LINE_HEIGHT,
    enabled: lines.length > MAX_PLAIN_LINES,
  });
  const match = matches[current];
  useEffect(() => {
    if (match === undefined) return;
    const around = linesAround(json, match.line).filter((line) => folded.has(line));
    if (around.length > 0) setFolded(new Set([...folded].filter((line) => !around.includes(line))));
    else scrollTo(match.line);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- follows the place that is shown, not every scroll
  }, [match, folded]);

  function scrollTo(line: number): void {
    if (lines.length > MAX_PLAIN_LINES) virtual.scrollToIndex(positionOf(line), { align: 'auto' });
    else document.getElementById(lineId(view, line))?.scrollIntoView({ block: 'nearest' });
  }
  const toggle = (line: number): void => setFolded(toggled(folded, line));
  const toggleContent = (line: number): void => setOpened(toggled(opened, line));
  const foldAll = [
    { id: 'json.fold', title: 'Fold all JSON', group: 'Request', run: () => setFolded(foldable(json)) },
    { id: 'json.unfold', title: 'Unfold all JSON', group: 'Request', run: () => setFolded(new Set()) },
  ];
  useCommands(hasCommands ? foldAll : []);
  const onClick = (press: MouseEvent): void => {
    const target = press.target instanceof Element ? press.target.closest<HTMLElement>('[data-do]') : null;
    // An opened value may hold a tree of its own.
    if (target?.closest('[role="tree"]') !== press.currentTarget) return;
    const line = Number(target?.dataset['line']);
    if (!Number.isInteger(line)) return;
    setActive(line);
    if (target.dataset['do'] === 'fold') toggle(line);
    else if (target.dataset['do'] === 'open') toggleContent(line);
    else if ((getSelection()?.toString() ?? '') === '')
      void copyWithToast(target.dataset['do'] === 'path' ? pathOf(json, line) : valueToCopy(json, line));
  };
  const onKey = (press: KeyboardEvent): void => {
    if (press.target !== press.currentTarget) return;
    const to = nextVisible(lines, positionOf(active), press.key);
    const { foldsTo } = lineOf(json, active);
    if (to !== undefined) {
      setActive(to);
      scrollTo(to);
    } else if (press.key === 'Enter')
      void copyWithToast(press.shiftKey ? pathOf(json, active) : valueToCopy(json, active));
    else if (foldsTo !== undefined && press.key === (folded.has(active) ? 'ArrowRight' : 'ArrowLeft')) toggle(active);
    else if (press.key === (opened.has(active) ? 'ArrowLeft' : 'ArrowRight') && embeddedAt(json, active) !== undefined)
      toggleContent(active);
    else return;
    press.preventDefault();
  };
  const contentOf = (line: number) => {
    const embedded = opened.has(line) ? embeddedAt(json, line) : undefined;
    return embedded === undefined ? undefined : <EmbeddedView embedded={embedded} />;
  };
  const draw = (line: number) => (
    <JsonLineView
      key={line}
      view={view}
      json={json}
      line={line}
      active={line === active}
      folded={folded.has(line)}
      matches={byLine.get(line) ?? NO_MATCHES}
      current={current}
    >
      {contentOf(line)}
    </JsonLineView>
  );
  return (
    <div
      ref={frame}
      data-partial={lines.length > MAX_PLAIN_LINES || undefined}
      role="tree"
      aria-label={label}
      aria-activedescendant={lineId(view, active)}
      tabIndex={0}
      onClick={onClick}
      onKeyDown={onKey}
      className="group/tree min-h-0 grow scroll-py-10 overflow-auto py-2 font-mono text-sm outline-offset-[-2px]"
    >
      {lines.length <= MAX_PLAIN_LINES ? (
        Array.from(lines, draw)
      ) : (
        <VirtualLines virtual={virtual} draw={(position) => draw(lines[position] ?? 0)} />
      )}
      {json.ended === 'lines' ? (
        <p className="px-4 py-2 font-sans text-ink-2">
          The body has too many lines to show. Download it to see the rest.
        </p>
      ) : null}
    </div>
  );
}

interface VirtualLinesProps {
  readonly virtual: Virtualizer<HTMLDivElement, Element>;
  /** Draws the visible line at a position. */
  readonly draw: (position: number) => ReactNode;
}

/** Only the lines near the visible ones. Their heights are measured, because lines wrap and open. */
function VirtualLines({ virtual, draw }: VirtualLinesProps) {
  return (
    <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => (
        <div
          key={item.key}
          role="presentation"
          ref={virtual.measureElement}
          data-index={item.index}
          className="absolute top-0 left-0 w-full"
          style={{ transform: `translateY(${item.start}px)` }}
        >
          {draw(item.index)}
        </div>
      ))}
    </div>
  );
}

/** The content of an opened value, below its line. */
function EmbeddedView({ embedded }: { readonly embedded: Embedded }) {
  if (embedded.kind === 'time') return <EmbeddedTime iso={embedded.iso} />;
  return (
    <div className="my-1 mr-4 ml-15 flex max-h-96 flex-col overflow-auto rounded-md border border-line bg-panel">
      {embedded.kind === 'json' ? <Content text={embedded.text} label="Embedded JSON" /> : null}
      {embedded.kind === 'jwt' ? (
        <>
          <Heading>Header</Heading>
          <Content text={embedded.header} label="Header of the token" />
          <Heading>Payload</Heading>
          <Content text={embedded.payload} label="Payload of the token" />
          <Heading>The signature is not checked.</Heading>
        </>
      ) : null}
      {embedded.kind === 'base64' ? <Base64Content embedded={embedded} /> : null}
    </div>
  );
}

function EmbeddedTime({ iso }: { readonly iso: string }) {
  return (
    <p className="ml-15 pb-1 text-ink-2">
      <time dateTime={iso}>{formatInstant(iso)}</time>
    </p>
  );
}

function Heading({ children }: { readonly children: string }) {
  return <p className="shrink-0 px-4 pt-2 font-sans text-sm text-ink-2">{children}</p>;
}

function Content({ text, label }: { readonly text: string; readonly label: string }) {
  const json = useMemo(() => formatJson(text), [text]);
  return json === undefined ? <TextView text={text} label={label} /> : <JsonView json={json} label={label} />;
}

interface Base64ContentProps {
  readonly embedded: Extract<Embedded, { kind: 'base64' }>;
}

function Base64Content({ embedded: { bytes, text } }: Base64ContentProps) {
  if (text !== undefined) return <Content text={text} label="Decoded base64" />;
  return imageType(bytes) === undefined ? (
    <HexView bytes={bytes} label="Decoded base64 in hex" />
  ) : (
    <ImageView bytes={bytes} />
  );
}

interface SearchedJsonProps {
  readonly json: JsonLines;
  readonly find: Find;
}

/** Formatted JSON with a search field. */
export function SearchedJson({ json, find }: SearchedJsonProps) {
  const wanted = useDeferredValue(find.text ?? '');
  const matches = useMemo(() => searchJson(json, wanted), [json, wanted]);
  const steps = useSteps(matches.length, wanted);
  return (
    <>
      {find.text === undefined ? null : <FindBar find={find} count={matches.length} searched={wanted} steps={steps} />}
      {json.values > 1 ? <NoteLine>{formatCount(json.values)} JSON values, one after the other.</NoteLine> : null}
      <JsonView json={json} label="Body as JSON" hasCommands matches={matches} current={steps.current} />
    </>
  );
}
