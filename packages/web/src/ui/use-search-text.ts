import { useEffect, useRef, useState } from 'react';

/** Milliseconds after the last key press before the search starts. */
const PAUSE_MS = 80;

/** Milliseconds after the last key press before a mistake is shown, because an unfinished term is often one. */
const SETTLED_MS = 700;

type Timer = ReturnType<typeof setTimeout>;
const stop = (timers: readonly Timer[]): void => timers.forEach(clearTimeout);

interface SearchTextOptions {
  readonly onSearch: (text: string) => void;
  /** Called at each change by the user. */
  readonly onText: ((text: string) => void) | undefined;
  readonly canSearch: (text: string) => boolean;
}

/**
 * The text of a search field. Searches while the user types, after a short pause. A search from elsewhere (command
 * palette, browser history) replaces the text.
 */
export function useSearchText(searched: string, { onSearch, onText, canSearch }: SearchTextOptions) {
  const [text, setText] = useState(searched);
  const [settled, setSettled] = useState(searched);
  const timers = useRef<Timer[]>([]);
  /** Texts that will return as `searched`, oldest first. Has the current one, because users type before effects run. */
  const requested = useRef([searched]);
  useEffect(() => () => stop(timers.current), []);
  useEffect(() => {
    const own = requested.current.indexOf(searched);
    if (own >= 0) {
      requested.current.splice(0, own + 1);
      return;
    }
    // Older searches do not return.
    requested.current = [];
    stop(timers.current);
    setText(searched);
    setSettled(searched);
  }, [searched]);
  const search = (next: string): void => {
    const wanted = next.trim();
    if (wanted === (requested.current.at(-1) ?? searched) || !canSearch(wanted)) return;
    requested.current.push(wanted);
    onSearch(wanted);
  };
  return {
    text,
    /** True if the user has stopped typing. */
    isSettled: settled === text,
    change(next: string): void {
      setText(next);
      onText?.(next);
      stop(timers.current);
      timers.current = [setTimeout(() => search(next), PAUSE_MS), setTimeout(() => setSettled(next), SETTLED_MS)];
    },
    submit(next: string): void {
      stop(timers.current);
      setText(next);
      onText?.(next);
      setSettled(next);
      search(next);
    },
    settle: () => setSettled(text),
  };
}
