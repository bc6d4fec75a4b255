import { parseQuery } from '@creel/contract';

export interface QueryNotesProps {
  readonly id: string;
  readonly text: string;
  /** False while the user types. */
  readonly showsMistake: boolean;
  /** A mistake that only the server knows. */
  readonly error?: string | undefined;
}

/** Below a query field: a mistake at its place, or the unknown fields that are searched as text. */
export function QueryNotes({ id, text, showsMistake, error }: QueryNotesProps) {
  const parsed = parseQuery(text);
  const note = parsed.ok ? unknownNote(parsed.unknownFields.map(({ name }) => name)) : undefined;
  return (
    <div id={id} role="status" className="text-sm">
      {parsed.ok || !showsMistake ? null : (
        <Mistake text={text} position={parsed.position} sentence={parsed.sentence} />
      )}
      {error === undefined || !parsed.ok ? null : <p className="pt-1 text-bad">{error}</p>}
      {note === undefined ? null : <p className="pt-1 text-ink-2">{note}</p>}
    </div>
  );
}

function Mistake({
  text,
  position,
  sentence,
}: {
  readonly text: string;
  readonly position: number;
  readonly sentence: string;
}) {
  const end = endOfTerm(text, position);
  return (
    <p className="pt-1 text-bad">
      {sentence}
      <span className="sr-only"> The mistake is at character {position + 1}.</span>{' '}
      <code aria-hidden className="block truncate font-mono text-ink-2">
        {text.slice(0, position).slice(-MAX_BEFORE)}
        <span data-mistake className="text-bad underline decoration-wavy underline-offset-2">
          {text.slice(position, end) || '\u00a0'}
        </span>
        {text.slice(end)}
      </code>
    </p>
  );
}

/** Characters before a mistake that are shown. */
const MAX_BEFORE = 40;

/** Quotes and parentheses that are not closed reach to the end. */
function endOfTerm(text: string, position: number): number {
  const rest = text.slice(position);
  return position + (/^["(]/.test(rest) ? rest.length : Math.max(rest.search(/\s|$/), 1));
}

function unknownNote(names: readonly string[]): string | undefined {
  const [name] = names;
  if (name === undefined) return undefined;
  return names.length === 1
    ? `${name}: is not a field, so it is searched as text.`
    : `${names.map((one) => `${one}:`).join(', ')} are not fields, so they are searched as text.`;
}
