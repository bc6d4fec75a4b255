/** Maximum number of characters to scan, so that the cost per row stays low. */
const MAX_SCANNED = 16 * 1024;

/**
 * Returns the string values of some top-level keys of a JSON object. The text may be cut off or not be JSON: then it returns what it
 * finds and never throws. The first of duplicate keys is used.
 */
export function topLevelStrings(text: string, keys: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const end = Math.min(text.length, MAX_SCANNED);
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

/** Returns the position of the closing quote, or -1. */
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
