import { useDeferredValue, useMemo } from 'react';
import { FindBar } from '../../../bodies/find-bar.tsx';
import type { JsonLines } from '../../../bodies/json-lines.ts';
import { JsonView } from '../../../bodies/json-view.tsx';
import { NoteLine } from '../../../bodies/note-line.tsx';
import { searchJson } from '../../../bodies/search-json.ts';
import { useSteps } from '../../../bodies/use-steps.ts';
import { formatCount } from '../../../ui/format.ts';

interface SearchedJsonProps {
  readonly json: JsonLines;
  readonly find: string | undefined;
  readonly onFind: (find: string | undefined) => void;
}

/** Formatted JSON with a search field. */
export function SearchedJson({ json, find, onFind }: SearchedJsonProps) {
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
