export interface HighlightedProps {
  readonly parts: readonly { readonly text: string; readonly hit: boolean }[];
}

/** A text with what was searched for marked in it. */
export function Highlighted({ parts }: HighlightedProps) {
  let at = 0;
  return parts.map(({ text, hit }) => {
    const key = at;
    at += text.length;
    return hit ? <mark key={key}>{text}</mark> : <span key={key}>{text}</span>;
  });
}
