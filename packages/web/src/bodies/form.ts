/**
 * The fields of an urlencoded form in order, repeats included (WHATWG URL, section 5.1); `undefined` if the text is
 * not a form.
 */
export function parseForm(text: string): [string, string][] | undefined {
  if (text === '' || /[\s<>{}"]/.test(text.trim()) || !text.includes('=')) return undefined;
  // The constructor drops a leading question mark. After an empty pair, it keeps it.
  return [...new URLSearchParams('&' + text.trim())];
}
