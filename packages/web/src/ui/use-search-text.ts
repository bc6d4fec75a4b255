import { useEffect, useRef, useState } from 'react';

/** Milliseconds after the last key press before the search starts. */
const PAUSE_MS = 80;

/** Milliseconds after the last key press before a mistake is shown, because an unfinished term is often one. */
const SETTLED_MS = 700;

export interface SearchText {
  readonly text: string;
  /** Where the caret goes after a change that was not typed. */
  readonly caret: { readonly at: number } | undefined;
  /** True if the user has stopped typing. */
  readonly isSettled: boolean;
  readonly change: (text: string, caret?: number) => void;
  readonly submit: () => void;
  readonly settle: () => void;
  readonly clear: () => void;
}

/**
 * The text of a search field. Searches while the user types, after a short pause. A search from elsewhere (command
 * palette, browser history) replaces the text.
 */
export function useSearchText(
  searched: string,
  onSearch: (text: string) => void,
  canSearch: (text: string) => boolean,
): SearchText {
  const [text, setText] = useState(searched);
  const [caret, setCaret] = useState<{ readonly at: number }>();
  const [settled, setSettled] = useState(searched);
  const timers = useRef<ReturnType<typeof setTimeout>[]>([]);
  /** Searches that this field has started and that have not come back as `searched` yet, oldest first. */
  const asked = useRef<string[]>([]);
  const stop = (): void => timers.current.splice(0).forEach((timer) => clearTimeout(timer));
  useEffect(() => stop, []);
  useEffect(() => {
    const own = asked.current.indexOf(searched);
    if (own >= 0) {
      asked.current.splice(0, own + 1);
      return;
    }
    // Older searches will not come back any more.
    asked.current = [];
    stop();
    setText(searched);
    setSettled(searched);
  }, [searched]);
  const search = (next: string): void => {
    const wanted = next.trim();
    if (wanted === searched || !canSearch(wanted)) return;
    asked.current.push(wanted);
    onSearch(wanted);
  };
  return {
    text,
    caret,
    isSettled: settled === text,
    change(next, at) {
      setText(next);
      if (at !== undefined) setCaret({ at });
      stop();
      timers.current.push(
        setTimeout(() => search(next), PAUSE_MS),
        setTimeout(() => setSettled(next), SETTLED_MS),
      );
    },
    submit() {
      stop();
      setSettled(text);
      search(text);
    },
    settle: () => setSettled(text),
    clear() {
      stop();
      setText('');
      setSettled('');
      search('');
    },
  };
}
