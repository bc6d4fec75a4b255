import { Braces } from 'lucide-react';
import { useMemo } from 'react';
import type { ListedRequest } from '../../../api/request-list.ts';
import { invalidUtf8At } from '../../../bodies/encoding.ts';
import type { Find } from '../../../bodies/find-bar.tsx';
import { findJsonError } from '../../../bodies/format-json.ts';
import { SearchedJson } from '../../../bodies/json-view.tsx';
import { TextView } from '../../../bodies/text-view.tsx';
import { Button } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/feedback.tsx';
import { isMeantAsJson } from './tab-content.ts';
import type { ShownBody } from './use-body.ts';

interface JsonTabProps {
  readonly body: ShownBody;
  readonly request: ListedRequest;
  readonly find: Find;
  readonly onRaw: () => void;
}

/** The body as formatted JSON. */
export function JsonTab({ body, request, find, onRaw }: JsonTabProps) {
  const json = body.view?.json;
  if (json !== undefined) return <SearchedJson json={json} find={find} />;
  if (request.size === 0) return <EmptyState icon={<Braces />} title="No body" className="py-10" />;
  const { text, bytes, coding } = body.view ?? {};
  const isMeant = isMeantAsJson(request.contentType, text);
  if (text !== undefined && isMeant) return <BrokenJson text={text} find={find} onRaw={onRaw} />;
  return (
    <EmptyState
      icon={<Braces />}
      title="This body is not JSON"
      actions={<Button onClick={onRaw}>Show Raw</Button>}
      className="py-10"
    >
      {isMeant && bytes !== undefined && coding?.problem === undefined ? <InvalidUtf8 bytes={bytes} /> : undefined}
    </EmptyState>
  );
}

/** JSON is UTF-8 (RFC 8259, section 8.1). Some senders declare JSON and send another character set. */
function InvalidUtf8({ bytes }: { readonly bytes: Uint8Array }) {
  const position = useMemo(() => invalidUtf8At(bytes), [bytes]);
  if (position === undefined) return null;
  return (
    <>
      It is not valid UTF-8. The first invalid byte is at offset <code>{position.toString(16).padStart(8, '0')}</code>{' '}
      in hex.
    </>
  );
}

interface BrokenJsonProps extends Pick<JsonTabProps, 'find' | 'onRaw'> {
  readonly text: string;
}

/** A body that should be JSON: where its error is, and its text. */
function BrokenJson({ text, find, onRaw }: BrokenJsonProps) {
  return (
    <>
      <div className="flex shrink-0 items-start gap-3 border-b border-line bg-warn-soft px-4 py-2">
        <div className="min-w-0 grow">
          <p className="font-medium text-warn">This body is not JSON</p>
          <JsonErrorLocation text={text} />
        </div>
        <Button size="sm" onClick={onRaw}>
          Show Raw
        </Button>
      </div>
      <TextView text={text} label="Body as text" find={find} />
    </>
  );
}

/** Characters that are shown before and after an error. */
const AROUND = 24;

/** The position of the syntax error. */
function JsonErrorLocation({ text }: { readonly text: string }) {
  const error = useMemo(() => findJsonError(text), [text]);
  if (error === undefined) return null;
  const { at, line, column, ended } = error;
  if (ended) return <p>The text ends before the JSON is complete.</p>;
  return (
    <p>
      Invalid JSON at line {line}, column {column}:
      <code className="mt-1 block text-sm wrap-anywhere">
        {at > AROUND ? '…' : ''}
        {text.slice(Math.max(0, at - AROUND), at)}
        <mark>{text.slice(at, at + 1)}</mark>
        {text.slice(at + 1, at + 1 + AROUND)}
        {at + 1 + AROUND < text.length ? '…' : ''}
      </code>
    </p>
  );
}
