/** The beginning of a text, at most `most` UTF-16 units, and never half of a surrogate pair at its end: databases change or refuse that. */
export function cutText(text: string, most: number): string {
  const cut = text.slice(0, most);
  // Without the flag `u` the units are seen one by one: a leading half that is the last has lost its other half.
  return text.length > most && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
