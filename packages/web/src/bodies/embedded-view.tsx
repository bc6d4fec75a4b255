import { useMemo } from 'react';
import type { ComponentType } from 'react';
import { formatInstant } from '../ui/format.ts';
import { HexView, ImageView } from './binary-view.tsx';
import { imageType } from './body-kind.ts';
import type { Embedded } from './embedded-value.ts';
import { formatJson } from './format-json.ts';
import type { JsonLines } from './json-lines.ts';
import { TextView } from './text-view.tsx';

/** The marks beside values that can be opened. */
export const EMBEDDED_LABELS = { json: 'JSON', jwt: 'JWT', base64: 'Base64', time: 'Time' } as const;

interface EmbeddedViewProps {
  readonly embedded: Embedded;
  /** Shows JSON. Passed in, because a JSON view contains this view. */
  readonly Json: ComponentType<{ readonly json: JsonLines; readonly label: string }>;
}

/** The content of an opened value, below its line. */
export function EmbeddedView({ embedded, Json }: EmbeddedViewProps) {
  if (embedded.kind === 'time') return <EmbeddedTime iso={embedded.iso} />;
  return (
    <div className="my-1 mr-4 ml-15 flex max-h-96 flex-col overflow-auto rounded-md border border-line bg-panel">
      {embedded.kind === 'json' ? <Content text={embedded.text} Json={Json} label="Embedded JSON" /> : null}
      {embedded.kind === 'jwt' ? (
        <>
          <Heading>Header</Heading>
          <Content text={embedded.header} Json={Json} label="Header of the token" />
          <Heading>Payload</Heading>
          <Content text={embedded.payload} Json={Json} label="Payload of the token" />
          <Heading>The signature is not checked.</Heading>
        </>
      ) : null}
      {embedded.kind === 'base64' ? <Base64Content embedded={embedded} Json={Json} /> : null}
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

interface ContentProps extends Pick<EmbeddedViewProps, 'Json'> {
  readonly text: string;
  readonly label: string;
}

function Content({ text, label, Json }: ContentProps) {
  const json = useMemo(() => formatJson(text), [text]);
  return json === undefined ? <TextView text={text} label={label} /> : <Json json={json} label={label} />;
}

interface Base64ContentProps extends Pick<EmbeddedViewProps, 'Json'> {
  readonly embedded: Extract<Embedded, { kind: 'base64' }>;
}

function Base64Content({ embedded: { bytes, text }, Json }: Base64ContentProps) {
  if (text !== undefined) return <Content text={text} label="Decoded base64" Json={Json} />;
  return imageType(bytes) === undefined ? (
    <HexView bytes={bytes} label="Decoded base64 in hex" />
  ) : (
    <ImageView bytes={bytes} />
  );
}
