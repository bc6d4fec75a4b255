import { skipSpace, stringEnd } from './query/json-text.ts';

/** Maximum number of characters to scan, so that the cost per row stays low. */
const MAX_SCANNED = 16 * 1024;

/**
 * Returns the string values of some top-level keys of a JSON object. The text may be cut off or not be JSON: then it returns what it
 * finds and never throws. The first of duplicate keys is used.
 */
export function topLevelStrings(text: string, keys: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const scanned = text.slice(0, MAX_SCANNED);
  let at = skipSpace(scanned, scanned.startsWith('\uFEFF') ? 1 : 0);
  if (scanned[at] !== '{') return found;
  let depth = 0;
  let key: string | undefined;
  while (at < scanned.length && found.size < keys.length) {
    const character = scanned[at];
    if (character === '"') {
      const end = stringEnd(scanned, at);
      if (end < 0) return found;
      const after = skipSpace(scanned, end);
      if (depth === 1) {
        const value = unquote(scanned.slice(at, end));
        if (scanned[after] === ':') key = value;
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

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}
