import { Braces } from 'lucide-react';
import { useDeferredValue, useMemo } from 'react';
import type { ListedRequest } from '../../../api/request-list.ts';
import { FindBar } from '../../../bodies/find-bar.tsx';
import { jsonBreak } from '../../../bodies/format-json.ts';
import type { JsonLines } from '../../../bodies/json-lines.ts';
import { JsonView } from '../../../bodies/json-view.tsx';
import { NoteLine } from '../../../bodies/note-line.tsx';
import { searchJson } from '../../../bodies/search-json.ts';
import { useSteps } from '../../../bodies/use-steps.ts';
import { Button } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { formatCount } from '../../../ui/sizes.ts';
import type { ShownBody } from './use-body.ts';

export interface JsonTabProps {
  readonly body: ShownBody;
  readonly request: ListedRequest;
  readonly find: string | undefined;
  readonly onFind: (find: string | undefined) => void;
  readonly onRaw: () => void;
}

/** The body as formatted JSON. */
export function JsonTab({ body, request, find, onFind, onRaw }: JsonTabProps) {
  const json = body.view?.json;
  if (json !== undefined) return <SearchedJson json={json} find={find} onFind={onFind} />;
  if (request.size === 0) return <EmptyState icon={<Braces />} title="No body" className="py-10" />;
  const text = body.view?.text;
  const isMeant = /json/i.test(request.contentType ?? '') || /^\s*[{[]/.test(text ?? '');
  return (
    <EmptyState
      icon={<Braces />}
      title="This body is not JSON"
      actions={<Button onClick={onRaw}>Show Raw</Button>}
      className="py-10"
    >
      {text !== undefined && isMeant ? <JsonErrorLocation text={text} /> : null}
    </EmptyState>
  );
}

/** Characters that are shown before and after an error. */
const AROUND = 24;

/** For a body that should be JSON: the position of the syntax error. */
function JsonErrorLocation({ text }: { readonly text: string }) {
  const place = useMemo(() => jsonBreak(text), [text]);
  if (place === undefined) return null;
  const { at, line, column, ended } = place;
  if (ended) return 'The text ends before the JSON is complete.';
  return (
    <>
      It stops being JSON at line {line}, column {column}:
      <code className="mt-2 block text-sm wrap-anywhere">
        {at > AROUND ? '…' : ''}
        {text.slice(Math.max(0, at - AROUND), at)}
        <mark>{text.slice(at, at + 1)}</mark>
        {text.slice(at + 1, at + 1 + AROUND)}
        {at + 1 + AROUND < text.length ? '…' : ''}
      </code>
    </>
  );
}

interface SearchedJsonProps {
  readonly json: JsonLines;
  readonly find: string | undefined;
  readonly onFind: (find: string | undefined) => void;
}

function SearchedJson({ json, find, onFind }: SearchedJsonProps) {
  const wanted = useDeferredValue(find ?? '');
  const matches = useMemo(() => searchJson(json, wanted), [json, wanted]);
  const [current, step] = useSteps(matches.length, wanted);
  return (
    <>
      {find === undefined ? null : (
        <FindBar find={find} onFind={onFind} count={matches.length} current={current} onStep={step} />
      )}
      {json.values > 1 ? <NoteLine>{formatCount(json.values)} JSON values, one after the other.</NoteLine> : null}
      <JsonView json={json} label="Body as JSON" hasCommands matches={matches} current={current} />
    </>
  );
}
