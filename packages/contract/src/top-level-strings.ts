/** Characters of a body that are looked through at most; a row must not cost more. */
const LOOK_AT = 16 * 1024;

/**
 * The text values of some keys of a JSON object's first level. Works on the beginning of a body as well, and on what is no JSON:
 * then it finds nothing or little, and never fails. Doubles: the first counts.
 */
export function topLevelStrings(text: string, keys: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const end = Math.min(text.length, LOOK_AT);
  let at = skipSpace(text, 0, end);
  if (text[at] !== '{') return found;
  let depth = 0;
  let key: string | undefined;
  while (at < end && found.size < keys.length) {
    const character = text[at];
    if (character === '"') {
      const close = stringEnd(text, at, end);
      if (close < 0) return found;
      const after = skipSpace(text, close + 1, end);
      if (depth === 1) {
        const value = unquote(text.slice(at, close + 1));
        if (text[after] === ':') key = value;
        else if (key !== undefined && keys.includes(key) && !found.has(key)) found.set(key, value);
      }
      at = after;
      continue;
    }
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    if (depth === 0) return found;
    at++;
  }
  return found;
}

function skipSpace(text: string, from: number, end: number): number {
  let at = from;
  while (
    at < end &&
    (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t' || text[at] === '\uFEFF')
  )
    at++;
  return at;
}

/** The position of the closing quote, or -1. */
function stringEnd(text: string, open: number, end: number): number {
  for (let at = open + 1; at < end; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}
