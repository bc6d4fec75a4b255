import { Notice, Skeleton } from '../ui/feedback.tsx';
import { HexView } from './binary-view.tsx';
import { JsonView } from './json-view.tsx';
import { CodingNote, NoteLine } from './note-line.tsx';
import { TextView } from './text-view.tsx';
import type { BodyView } from './view-body.ts';

interface ResponseBodyProps {
  /** Why the body is incomplete; `undefined` if it is complete. */
  readonly cut: string | undefined;
  /** Number of bytes received of the body. */
  readonly size: number;
  /** `undefined` while the body is being parsed. */
  readonly view: BodyView | undefined;
  readonly error: Error | null;
  /** The JSON as received. */
  readonly asText: boolean;
}

/** The body of a response: formatted JSON, text as received, or hex. Never interpreted as HTML. */
export function ResponseBody({ cut, size, view, error, asText }: ResponseBodyProps) {
  return (
    <>
      {cut === undefined ? null : <NoteLine>{cut}</NoteLine>}
      {view?.coding === undefined ? null : <CodingNote coding={view.coding} size={size} />}
      {view?.charset === undefined ? null : (
        <NoteLine>The text was decoded from {view.charset}, which its content type declares.</NoteLine>
      )}
      {error === null ? null : (
        <Notice tone="bad" className="m-3">
          {error.message}
        </Notice>
      )}
      {size === 0 ? <p className="px-4 py-3 text-ink-2">No content</p> : null}
      {size > 0 && view === undefined && error === null ? <Skeleton className="m-4 h-16" /> : null}
      {size > 0 && view !== undefined ? <Content view={view} asText={asText} /> : null}
    </>
  );
}

function Content({ view, asText }: { readonly view: BodyView; readonly asText: boolean }) {
  if (view.json !== undefined && !asText) return <JsonView json={view.json} label="Response as JSON" />;
  if (view.text !== undefined && view.kind !== 'binary') return <TextView text={view.text} label="Response as text" />;
  return <HexView bytes={view.bytes} label="Response in hex" />;
}
