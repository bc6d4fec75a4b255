/**
 * The first `most` UTF-16 units of a text, without half of a surrogate pair at the end: databases change or reject
 * that.
 */
export function truncate(text: string, most: number): string {
  const cut = text.slice(0, most);
  // Without the `u` flag each unit is matched alone, so a high surrogate at the end is found.
  return text.length > most && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
