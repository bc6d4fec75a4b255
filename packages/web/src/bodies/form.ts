/** The fields of an urlencoded form in their order, doubles included (WHATWG URL 5.1); `undefined` when the text is no form. */
export function parseForm(text: string): [string, string][] | undefined {
  if (text === '' || /[\s<>{}"]/.test(text.trim()) || !text.includes('=')) return undefined;
  // The constructor takes a leading question mark away; behind an empty pair it stays.
  return [...new URLSearchParams('&' + text.trim())];
}
