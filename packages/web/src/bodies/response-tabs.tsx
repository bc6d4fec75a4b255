import type { HeaderPair } from '@creel/contract';
import { clsx } from 'clsx';
import { useState } from 'react';
import { CopyButton } from '../ui/copy.tsx';
import { Notice, Skeleton } from '../ui/feedback.tsx';
import { TabPanel, Tabs } from '../ui/tabs.tsx';
import { readable } from './encoding.ts';
import { FieldTable } from './field-table.tsx';
import { HexView } from './binary-view.tsx';
import { JsonView } from './json-view.tsx';
import { DecodingNotes, NoteLine } from './note-line.tsx';
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

interface ResponseTabsProps extends Omit<ResponseBodyProps, 'asText'> {
  readonly label: string;
  readonly headers: readonly HeaderPair[];
  readonly className: string;
}

/** The body and the headers of a response, as received. */
export function ResponseTabs({ label, headers, className, view, ...body }: ResponseTabsProps) {
  const [part, setPart] = useState<'body' | 'raw' | 'headers'>('body');
  const fields = headers.map(({ key, value }): [string, string] => [key, readable(value)]);
  const copied = part === 'headers' ? fields.map((field) => field.join(': ')).join('\n') : view?.text;
  const tabs = [
    { value: 'body', label: 'Body' },
    ...(view?.json === undefined ? [] : [{ value: 'raw', label: 'Raw' } as const]),
    { value: 'headers', label: 'Headers', count: fields.length },
  ] as const;
  return (
    <Tabs
      label={label}
      value={part}
      onValueChange={setPart}
      tabs={tabs}
      className={clsx('relative', className)}
      listClassName="min-h-9 border-b border-line px-3 pr-12"
    >
      {copied === undefined || copied === '' ? null : (
        <CopyButton text={copied} label="Copy the response" className="absolute top-1.5 right-3 pointer-coarse:top-0" />
      )}
      <TabPanel value={part} className="flex max-h-[400px] flex-col">
        {part === 'headers' ? (
          <div className="relative min-h-0 overflow-auto">
            <FieldTable label="Response headers" nameTitle="Header" fields={fields} />
          </div>
        ) : (
          <ResponseBody view={view} {...body} asText={part === 'raw'} />
        )}
      </TabPanel>
    </Tabs>
  );
}

/** The body of a response: formatted JSON, text as received, or hex. Never interpreted as HTML. */
function ResponseBody({ cut, size, view, error, asText }: ResponseBodyProps) {
  return (
    <>
      {cut === undefined ? null : <NoteLine>{cut}</NoteLine>}
      {view === undefined ? null : <DecodingNotes view={view} size={size} />}
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
