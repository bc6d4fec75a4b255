import { parseQuery, unknownFieldsSentences } from '@creel/contract';
import { clsx } from 'clsx';

interface QueryNotesProps {
  readonly id: string;
  readonly text: string;
  /** False while the user types. */
  readonly showsMistake: boolean;
  /** The valid query whose matches are shown. With a mistake, it is not that of the text. */
  readonly matchesOf: string | undefined;
  /** A mistake that only the server knows. */
  readonly error?: string | undefined;
  /** `none`: all notes float. `line`: one line, and a mistake floats. `grows`: what is below may move, so nothing floats. */
  readonly room: 'none' | 'line' | 'grows';
}

/** Over what is below the field, so that nothing moves. */
const FLOATING = 'absolute z-10 rounded-md border border-line-strong bg-panel px-2 py-1 shadow-float';
/** Over the titles of the columns, and one line high without the focus. The checkbox before them stays visible. */
const OVER_TITLES =
  'top-full right-3 left-5.5 @md:left-6.5 @lg:left-3.5 *:truncate group-focus-within:*:whitespace-normal';

/** Below a query field: a mistake at its place, or the unknown fields that are searched as text. */
export function QueryNotes({ id, text, showsMistake, matchesOf, error, room }: QueryNotesProps) {
  const floats = room === 'none';
  const parsed = parseQuery(text);
  const notes = !parsed.ok ? [] : error === undefined ? unknownFieldsSentences(parsed.unknownFields) : [error];
  const last = notes.at(-1);
  return (
    <div id={id} role="status" className={clsx('text-sm wrap-anywhere', !floats && 'relative min-h-5')}>
      {parsed.ok || !showsMistake ? null : (
        <div className={room === 'grows' ? 'pt-1' : clsx(FLOATING, floats ? OVER_TITLES : 'inset-x-0 top-1')}>
          <Mistake text={text} position={parsed.position} sentence={parsed.sentence} matchesOf={matchesOf} />
        </div>
      )}
      {last === undefined ? null : (
        <div className={floats ? clsx(FLOATING, OVER_TITLES) : 'pt-1'}>
          <p className={error === undefined ? 'text-ink-2' : 'text-bad'}>
            {notes.length === 1 ? null : (
              // In the one line of a narrow list, what could be meant has all of the room.
              <span className={clsx(floats && '@max-lg:group-not-focus-within:sr-only')}>{notes[0]} </span>
            )}
            {last}
          </p>
        </div>
      )}
    </div>
  );
}

interface MistakeProps extends Pick<QueryNotesProps, 'text' | 'matchesOf'> {
  readonly position: number;
  readonly sentence: string;
}

function Mistake({ text, position, sentence, matchesOf }: MistakeProps) {
  const end = endOfTerm(text, position);
  return (
    <>
      <p className="text-bad" title={sentence}>
        {matchesOf === undefined ? '' : 'Not applied. '}
        {sentence}
        <span className="sr-only"> The mistake is at character {position + 1}.</span>
      </p>
      <code aria-hidden className="hidden truncate font-mono text-ink-2 group-focus-within:block">
        {text.slice(0, position).slice(-MAX_BEFORE)}
        <span data-mistake className="text-bad underline decoration-wavy underline-offset-2">
          {text.slice(position, end) || '\u00a0'}
        </span>
        {text.slice(end)}
      </code>
      {matchesOf === undefined || matchesOf === '' ? null : (
        <p className="hidden text-ink-2 group-focus-within:block">
          Still shown: the matches of <code>{matchesOf}</code>
        </p>
      )}
    </>
  );
}

/** Characters before a mistake that are shown. */
const MAX_BEFORE = 24;

/** Quotes and parentheses that are not closed reach to the end. */
function endOfTerm(text: string, position: number): number {
  const rest = text.slice(position);
  return position + (/^["(]/.test(rest) ? rest.length : Math.max(rest.search(/\s|$/), 1));
}
