import { Braces } from 'lucide-react';
import { useDeferredValue, useMemo } from 'react';
import type { JsonLines } from '../../../model/json-lines.ts';
import type { ListedRequest } from '../../../model/request-list.ts';
import { searchJson } from '../../../model/search-json.ts';
import { Button } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { FindBar } from './find-bar.tsx';
import { JsonView } from './json-view.tsx';
import type { ShownBody } from './use-body.ts';
import { useSteps } from './use-steps.ts';

export interface JsonTabProps {
  readonly body: ShownBody;
  readonly request: ListedRequest;
  readonly find: string | undefined;
  readonly onFind: (find: string | undefined) => void;
  readonly onRaw: () => void;
}

/** The body as JSON, where it is JSON. */
export function JsonTab({ body, request, find, onFind, onRaw }: JsonTabProps) {
  const json = body.view?.json;
  if (json !== undefined) return <SearchedJson json={json} find={find} onFind={onFind} />;
  if (request.size === 0) return <EmptyState icon={<Braces />} title="No body" className="py-10" />;
  return (
    <EmptyState
      icon={<Braces />}
      title="This body is not JSON"
      actions={<Button onClick={onRaw}>Show Raw</Button>}
      className="py-10"
    />
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
      <JsonView json={json} matches={matches} current={current} />
    </>
  );
}
