import { Download } from 'lucide-react';
import { Fragment, useMemo } from 'react';
import type { ListedRequest } from '../../../api/request-list.ts';
import { HexView, ImageView } from '../../../bodies/binary-view.tsx';
import { fileExtension, imageType, parseForm } from '../../../bodies/body-kind.ts';
import { textOf } from '@creel/contract';
import { isJsonStructure } from '../../../bodies/embedded-value.ts';
import { FieldTable } from '../../../bodies/field-table.tsx';
import type { Find } from '../../../bodies/find-bar.tsx';
import { JsonView, SearchedJson } from '../../../bodies/json-view.tsx';
import { formatJson } from '../../../bodies/format-json.ts';
import { escapeBidiControls } from '../../../bodies/encoding.ts';
import { MAX_PARTS, parseMultipart, safeFileName } from '../../../bodies/multipart.ts';
import type { MultipartPart } from '../../../bodies/multipart.ts';
import { TextView } from '../../../bodies/text-view.tsx';
import type { BodyView } from '../../../bodies/view-body.ts';
import { formatXml, xmlColors } from '../../../bodies/xml.ts';
import { Button } from '../../../ui/button.tsx';
import { formatCount, formatSize } from '../../../ui/format.ts';
import { Tabs, TabPanel } from '../../../ui/tabs.tsx';
import { download } from '../../../ui/download.ts';
import { messageText, RAW_VIEWS } from './tab-content.ts';
import type { RawView } from './tab-content.ts';
import type { ShownBody } from './use-body.ts';

/** Maximum number of fields whose JSON is formatted. */
const MAX_JSON_FIELDS = 10;

/** The decoded fields of a form, the JSON in them, such as in GitHub's `payload`, and the text as sent. */
function FormFields({ text }: { readonly text: string }) {
  const fields = useMemo(() => parseForm(text) ?? [], [text]);
  const json = useMemo(() => {
    const found = fields.filter(([, value]) => isJsonStructure(value)).slice(0, MAX_JSON_FIELDS);
    return found.flatMap(([name, value]) => {
      const lines = formatJson(value);
      return lines === undefined ? [] : [{ name, value, lines }];
    });
  }, [fields]);
  return (
    <div className="min-h-0 grow overflow-auto border-t border-line">
      <FieldTable
        label="Form fields"
        nameTitle="Field"
        fields={fields}
        shortened={new Set(json.map(({ value }) => value))}
      />
      {json.map(({ name, lines }, position) => (
        <Fragment key={position}>
          <h3 className="px-4 pt-4 pb-1 text-sm wrap-anywhere text-ink-2">{escapeBidiControls(name)} as JSON</h3>
          <div className="mx-4 flex max-h-96 flex-col overflow-auto rounded-md border border-line bg-panel">
            <JsonView json={lines} label={`${escapeBidiControls(name)} as JSON`} />
          </div>
        </Fragment>
      ))}
      <h3 className="px-4 pt-4 pb-1 text-sm text-ink-2">As sent</h3>
      <pre className="px-4 pb-4 text-sm wrap-anywhere whitespace-pre-wrap">{text}</pre>
    </div>
  );
}

const AS_TEXT = 'Body as text';

/** Views that do not start with something that takes the focus. */
const WITHOUT_FOCUS: ReadonlySet<RawView> = new Set(['fields', 'parts', 'image']);

interface RawTabProps {
  readonly body: ShownBody;
  readonly request: ListedRequest;
  readonly captureUrl: string;
  /** The selected view; by default the most specific one. */
  readonly chosen: RawView | undefined;
  readonly onChoose: (view: RawView) => void;
  readonly find: Find;
}

/** The body as received, the body in a layout for its kind, and the whole message. */
export function RawTab({ body: { view }, request, captureUrl, chosen, onChoose, find }: RawTabProps) {
  if (view === undefined) return null;
  const xml = view.kind === 'xml' && view.text !== undefined ? formatXml(view.text) : undefined;
  const views: RawView[] = request.size === 0 ? ['message'] : viewsOf(view, xml, request.contentType);
  const shown = chosen !== undefined && views.includes(chosen) ? chosen : (views[0] ?? 'message');
  return (
    <Tabs
      label="View of the body"
      value={shown}
      onValueChange={onChoose}
      tabs={views.map((value) => ({ value, label: RAW_VIEWS[value] }))}
      className="flex min-h-0 grow flex-col"
      listClassName="shrink-0 px-3 py-1.5"
    >
      <TabPanel value={shown} hasControls={!WITHOUT_FOCUS.has(shown)} className="flex min-h-0 grow flex-col">
        {shown === 'fields' ? <FormFields text={view.text ?? ''} /> : null}
        {shown === 'parts' ? <MultipartParts view={view} contentType={request.contentType} /> : null}
        {shown === 'image' ? <ImageView bytes={view.bytes} /> : null}
        {shown === 'formatted' && view.json !== undefined ? <SearchedJson json={view.json} find={find} /> : null}
        {shown === 'formatted' && xml !== undefined ? <XmlText text={xml} find={find} /> : null}
        {shown === 'text' && view.kind === 'xml' ? <XmlText text={view.text ?? ''} find={find} /> : null}
        {shown === 'text' && view.kind !== 'xml' ? (
          <TextView text={view.text ?? ''} label={AS_TEXT} find={find} />
        ) : null}
        {shown === 'hex' ? <HexView bytes={view.bytes} label="Body in hex" /> : null}
        {shown === 'message' ? <MessageView request={request} captureUrl={captureUrl} view={view} find={find} /> : null}
      </TabPanel>
    </Tabs>
  );
}

/** XML with colors. It is never interpreted. */
function XmlText({ text, find }: { readonly text: string; readonly find: Find }) {
  const colors = useMemo(() => xmlColors(text), [text]);
  return <TextView text={text} label={AS_TEXT} colors={colors} find={find} />;
}

interface MessageViewProps extends Pick<RawTabProps, 'request' | 'captureUrl' | 'find'> {
  readonly view: BodyView;
}

function MessageView({ request, captureUrl, view, find }: MessageViewProps) {
  const text = useMemo(() => messageText(request, captureUrl, view), [request, captureUrl, view]);
  return <TextView text={text} label={AS_TEXT} find={find} />;
}

/**
 * The available views of a body, most specific first. XML that is already indented is shown as sent. JSON of another
 * content type is formatted, because the details open in this tab; other JSON has a tab of its own.
 */
function viewsOf(view: BodyView, xml: string | undefined, contentType: string | null): RawView[] {
  const views: RawView[] = [];
  if (view.json !== undefined && !/json/i.test(contentType ?? '')) views.push('formatted');
  if (view.kind === 'form') views.push('fields');
  if (view.kind === 'multipart') views.push('parts');
  if (view.kind === 'image') views.push('image');
  const laidOut = view.text?.trim().includes('\n') === true;
  if (xml !== undefined && !laidOut) views.push('formatted');
  if (view.text !== undefined) views.push('text');
  if (xml !== undefined && laidOut) views.push('formatted');
  views.push('hex');
  return [...(view.kind === 'binary' ? views.toReversed() : views), 'message'];
}

/** Maximum number of characters of a part that are shown. */
const TEXT_SHOWN = 2000;

interface MultipartPartsProps {
  readonly view: BodyView;
  readonly contentType: string | null;
}

/** The parts of a multipart body: name, file name, type, size, content, and a download button. */
function MultipartParts({ view: { bytes, whole }, contentType }: MultipartPartsProps) {
  const parts = useMemo(() => parseMultipart(bytes, contentType), [bytes, contentType]);
  if (parts === undefined) {
    return <p className="p-4 text-ink-2">The body does not contain the parts that its content type declares.</p>;
  }
  return (
    <ul className="min-h-0 grow overflow-auto border-t border-line">
      {parts.map((part, position) => (
        <li key={position} className="border-b border-line px-4 py-2.5">
          <PartHeader part={part} position={position} isWhole={whole || position < parts.length - 1} />
          <PartContent part={part} />
        </li>
      ))}
      {parts.length < MAX_PARTS ? null : (
        <li className="px-4 py-2.5 text-ink-2">The first {formatCount(MAX_PARTS)} parts. Hex has the whole body.</li>
      )}
    </ul>
  );
}

interface PartHeaderProps {
  readonly part: MultipartPart;
  readonly position: number;
  /** False if the rest of the part is not loaded. */
  readonly isWhole: boolean;
}

function PartHeader({ part, position, isWhole }: PartHeaderProps) {
  return (
    <div className="flex min-w-0 items-center gap-3">
      <div className="flex min-w-0 grow flex-wrap items-baseline gap-x-3 font-mono text-sm">
        <span className="wrap-anywhere">
          {part.name === '' ? `Part ${position + 1}` : escapeBidiControls(part.name)}
        </span>
        {part.filename === undefined ? null : (
          <span className="wrap-anywhere text-ink-2">{escapeBidiControls(part.filename)}</span>
        )}
        {part.contentType === undefined ? null : <span className="wrap-anywhere text-ink-3">{part.contentType}</span>}
        <span className="text-ink-3">
          {isWhole ? '' : 'The first '}
          {formatSize(part.bytes.length)}
        </span>
      </div>
      {isWhole ? (
        <Button
          size="sm"
          aria-label={`Download ${part.filename ?? part.name}`}
          onClick={() =>
            download(
              [part.bytes.slice()],
              safeFileName(part.filename, `part-${position + 1}.${fileExtension(part.bytes)}`),
            )
          }
        >
          <Download /> Download
        </Button>
      ) : null}
    </div>
  );
}

function PartContent({ part }: { readonly part: MultipartPart }) {
  if (imageType(part.bytes) !== undefined) {
    return (
      <div className="mt-2 flex max-h-56 flex-col overflow-hidden rounded-md border border-line">
        <ImageView bytes={part.bytes} />
      </div>
    );
  }
  const text = textOf(part.bytes);
  if (text === undefined || text === '' || text.includes('\0')) return null;
  return (
    <pre className="mt-1 max-h-48 overflow-auto text-sm wrap-anywhere whitespace-pre-wrap">
      {text.slice(0, TEXT_SHOWN)}
      {text.length > TEXT_SHOWN ? ' …' : ''}
    </pre>
  );
}
